package recipes

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"recount/internal/hint"
)

func init() { systems["kube-apiserver"] = kubeAPIServer }

var (
	//go:embed kube-apiserver/main.go.txt
	kubeAPIServerMain string
	//go:embed kube-apiserver/go.mod.txt
	kubeAPIServerMod string

	kubernetes = regexp.MustCompile(`^1\.(34\.(?:0|[1-9][0-9]*))$`)
)

// kubeAPIServer is the recipe for a version of kube-apiserver, with the etcd that this version was made with.
func kubeAPIServer(version string) (recipe, error) {
	v := kubernetes.FindStringSubmatch(version)
	if v == nil {
		return nil, hint.Add(fmt.Errorf("no recipe for version %q", version), "known: all of 1.34")
	}
	return goMain{
		main: kubeAPIServerMain,
		mod:  strings.ReplaceAll(kubeAPIServerMod, "VERSION", v[1]), // its modules are 0.34.4 where it is 1.34.4
		path: "usr/bin/server",
	}, nil
}
