package etcd

import (
	"embed"
	"path"
	"regexp"
	"strings"

	"recount/docker/recipes"
)

// Name is what etcd's recipe is called.
const Name = "etcd"

func init() {
	recipes.Register(recipes.System{
		Name:      Name,
		Versions:  "3.4.15, 3.4.23, and all of 3.5, 3.6 and 3.7",
		Recipe:    recipe,
		Published: published,
	})
}

// The folder recipe holds the main package and a go.mod for any version, and below it, by version, the files of those
// whose whole module graph is pinned. The names end in .txt, so that they are no modules and packages of this one.
//
//go:embed recipe
var recipeFiles embed.FS

var (
	asModule = regexp.MustCompile(`^3\.[567]\.(0|[1-9][0-9]*)$`)
	released = regexp.MustCompile(`^3\.[4-7]\.[0-9]+$`)
)

// recipe is how a version is made. From 3.5 on the server is a module that can be imported. Of the 3.4 line the module
// proxy has one commit of release-3.4, a little after 3.4.15, and Debian 12 has 3.4.23.
func recipe(version string) recipes.Recipe {
	if version == "3.4.23" {
		return recipes.Debian{
			Packages: []string{"etcd-server=3.4.23*", "libc6"},
			Drop:     []string{"etc", "usr/share", "usr/lib", "lib/systemd"},
			Lacks:    "version 3.4.23 needs apt-get and dpkg-deb on Debian 12; 3.4.15 elects by the same rules and is built with Go",
		}
	}
	if !asModule.MatchString(version) && version != "3.4.15" {
		return nil
	}
	text := func(name string) string {
		for _, dir := range []string{path.Join("recipe", version), "recipe"} {
			if b, err := recipeFiles.ReadFile(path.Join(dir, name+".txt")); err == nil {
				return string(b)
			}
		}
		return ""
	}
	return recipes.GoMain{
		Main: text("main.go"),
		Mod:  strings.ReplaceAll(text("go.mod"), "VERSION", version),
		Sum:  text("go.sum"),
		Path: "usr/bin/etcd",
	}
}

func published(version string) recipes.Upstream {
	if !released.MatchString(version) {
		return recipes.Upstream{}
	}
	return recipes.Upstream{Ref: "quay.io/coreos/etcd:v" + version, Files: map[string]string{"/usr/local/bin/etcd": "usr/bin/etcd"}}
}
