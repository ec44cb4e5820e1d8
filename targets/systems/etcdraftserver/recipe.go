package etcdraftserver

import (
	_ "embed"
	"regexp"
	"strings"

	"recount/docker/recipes"
)

var (
	//go:embed recipe/main.go.txt
	recipeMain string
	//go:embed recipe/values.go.txt
	valuesFile string // what is of the versions whose messages are values
	//go:embed recipe/pointers.go.txt
	pointersFile string // and of those where they are pointers
	//go:embed recipe/go.mod.txt
	recipeMod string

	versions = regexp.MustCompile(`^3\.([123567])\.(0|[1-9][0-9]*)$`)
)

func init() {
	recipes.Register(recipes.System{Name: "etcd-raft-server", Versions: "all of 3.1, 3.2, 3.3, and from 3.5 to 3.7", Recipe: recipe})
}

// recipe is how a member that only elects, by a version of the library, is made. The library was a package of etcd's until 3.4, then a
// module beside it, and is one of its own since 3.6.
func recipe(version string) recipes.Recipe {
	m := versions.FindStringSubmatch(version)
	if m == nil {
		return nil
	}
	module, pkg := "github.com/coreos/etcd", "/raft"
	switch m[1] {
	case "5":
		module, pkg = "go.etcd.io/etcd/raft/v3", ""
	case "6", "7":
		module, pkg = "go.etcd.io/raft/v3", ""
	default:
		version += "+incompatible" // it is older than modules
	}
	messages := valuesFile
	if m[1] == "7" {
		messages = pointersFile
	}
	library := strings.NewReplacer("/PACKAGE", pkg, "MODULE", module)
	return recipes.GoMain{
		Main: library.Replace(recipeMain),
		More: []string{library.Replace(messages)},
		Mod:  strings.NewReplacer("MODULE", module, "VERSION", version).Replace(recipeMod),
		Path: "usr/bin/etcd-raft-server",
	}
}
