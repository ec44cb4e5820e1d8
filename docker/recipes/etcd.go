package recipes

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"strings"

	"recount/internal/hint"
)

func init() { systems["etcd"] = etcd }

// The folder etcd holds the main package and a go.mod for any version, and below it, by version, the files of those
// whose whole module graph is pinned. The names end in .txt, so that they are no modules and packages of this one.
//
//go:embed etcd
var etcdFiles embed.FS

var etcdModule = regexp.MustCompile(`^3\.[567]\.(0|[1-9][0-9]*)$`)

// etcd is the recipe for a version. From 3.5 on the server is a module that can be imported. Of the 3.4 line the module
// proxy has one commit of release-3.4, a little after 3.4.15, and Debian 12 has 3.4.23.
func etcd(version string) (recipe, error) {
	if version == "3.4.23" {
		return debian{
			packages: []string{"etcd-server=3.4.23*", "libc6"},
			drop:     []string{"etc", "usr/share", "usr/lib", "lib/systemd"},
			lacks:    "version 3.4.23 needs apt-get and dpkg-deb on Debian 12; 3.4.15 elects by the same rules and is built with Go",
		}, nil
	}
	text := func(name string) string {
		for _, dir := range []string{path.Join("etcd", version), "etcd"} {
			if b, err := etcdFiles.ReadFile(path.Join(dir, name+".txt")); err == nil {
				return string(b)
			}
		}
		return ""
	}
	if !etcdModule.MatchString(version) && version != "3.4.15" {
		return nil, hint.Add(fmt.Errorf("no recipe for version %q", version), "known: 3.4.15, 3.4.23, and all of 3.5, 3.6 and 3.7")
	}
	return goMain{
		main: text("main.go"),
		mod:  strings.ReplaceAll(text("go.mod"), "VERSION", version),
		sum:  text("go.sum"),
		path: "usr/bin/etcd",
	}, nil
}
