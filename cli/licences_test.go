package cli

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// permissive are sentences of the licences under which a program may be passed on in binary form, whoever's it is.
var permissive = []string{
	"Permission is hereby granted, free of charge",      // MIT
	"Redistribution and use in source and binary forms", // BSD
	"Apache License",         // Apache 2.0
	"Mozilla Public License", // MPL 2.0: its own files stay open
	"Permission to use, copy, modify, and/or distribute", // ISC
	"Creative Commons Attribution 4.0",                   // CC BY
	"Permission to use, copy, modify, and distribute",    // ISC, older
	"The FreeType License, which is similar",             // FreeType, where one may choose it
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)`)

// Every module that the program links has a licence that lets it be passed on.
func TestLicencesOfDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "recount/cmd/recount").Output()
	require.NoError(t, err)
	modules := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			modules[path] = dir
		}
	}
	require.NotEmpty(t, modules)
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		var found string
		files, err := os.ReadDir(modules[path])
		require.NoError(t, err, path)
		for _, f := range files {
			if licenceFile.MatchString(f.Name()) && !f.IsDir() {
				text, err := os.ReadFile(filepath.Join(modules[path], f.Name()))
				require.NoError(t, err)
				found += strings.Join(strings.Fields(string(text)), " ")
			}
		}
		require.NotEmpty(t, found, "%s has no licence", path)
		require.True(t, slices.ContainsFunc(permissive, func(s string) bool { return strings.Contains(found, s) }), "%s: %.300s", path, found)
	}
}
