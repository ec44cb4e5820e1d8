package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folder is where the bugs are, from the top of the tree.
const folder = "harness/hunt/testdata/planted"

// shapes are the kinds of mistakes that are planted.
var shapes = []string{"earlier-round", "between-lines", "many-leaderships", "never-drawn", "small-margin"}

// bug is one that was planted.
type bug struct {
	name                    string
	election, shape, breaks string
	patched                 map[string]string // by file of the tree, its text with the bug
}

// held reports whether the bug is held back while the search is worked on.
func (b *bug) held() bool { return crc32.ChecksumIEEE([]byte(b.name))%2 == 1 }

func readBugs() (bugs []*bug, err error) {
	files, err := filepath.Glob(folder + "/*.diff")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no bugs in %s: run it at the top of the tree", folder)
	}
	for _, file := range files {
		b, err := readBug(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		bugs = append(bugs, b)
	}
	return bugs, nil
}

func readBug(file string) (*bug, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	b := &bug{name: strings.TrimSuffix(filepath.Base(file), ".diff")}
	head, diff, ok := strings.Cut(string(text), "\n\n")
	if !ok {
		return nil, fmt.Errorf("no diff after the lines about it")
	}
	for _, line := range strings.Split(head, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "election":
			b.election = value
		case "shape":
			b.shape = value
		case "breaks":
			b.breaks = value
		}
	}
	if b.election == "" || b.breaks == "" || !slices.Contains(shapes, b.shape) {
		return nil, fmt.Errorf("election, shape and breaks are to be told; shapes are %s", strings.Join(shapes, ", "))
	}
	b.patched, err = patch(diff, func(file string) (string, error) {
		text, err := os.ReadFile(file)
		return string(text), err
	})
	return b, err
}

// patch applies a unified diff, by the lines that its hunks have and not by their numbers: the tree moves on. Each hunk
// must fit at one place.
func patch(diff string, read func(file string) (string, error)) (map[string]string, error) {
	patched := map[string]string{}
	file := ""
	var before, after strings.Builder
	apply := func() error {
		if before.Len() == 0 {
			return nil
		}
		if n := strings.Count(patched[file], before.String()); n != 1 {
			return fmt.Errorf("%s: a hunk fits at %d places:\n%s", file, n, before.String())
		}
		patched[file] = strings.Replace(patched[file], before.String(), after.String(), 1)
		before.Reset()
		after.Reset()
		return nil
	}
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+++ b/"):
			if err := apply(); err != nil {
				return nil, err
			}
			file = strings.TrimSpace(strings.TrimPrefix(line, "+++ b/"))
			text, err := read(file)
			if err != nil {
				return nil, err
			}
			patched[file] = text
		case strings.HasPrefix(line, "@@"):
			if err := apply(); err != nil {
				return nil, err
			}
		case strings.HasPrefix(line, "-"):
			before.WriteString(line[1:])
		case strings.HasPrefix(line, "+"):
			after.WriteString(line[1:])
		default:
			kept := strings.TrimPrefix(line, " ")
			before.WriteString(kept)
			after.WriteString(kept)
		}
	}
	return patched, apply()
}
