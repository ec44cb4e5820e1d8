// Package scenarios holds the experiments that Recount knows by name, one YAML file each.
package scenarios

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.yaml track
var files embed.FS

// Names returns the names of all scenarios, sorted, but for those of the track record, which are named track/….
func Names() []string {
	paths, err := fs.Glob(files, "*.yaml")
	if err != nil {
		panic(err) // the pattern is well formed
	}
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(p, ".yaml")
	}
	return paths
}

// Read returns the text of a scenario, and whether there is one of that name.
func Read(name string) ([]byte, bool) {
	text, err := files.ReadFile(name + ".yaml")
	return text, err == nil
}
