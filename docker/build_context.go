package docker

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"recount/internal/hint"
)

// The context of a Dockerfile is what its folder holds, but for what .dockerignore names, and what is no part of the sources.

const ignoreFile = ".dockerignore"

// packContext makes a tar archive of a Dockerfile's folder, without what is to be left out by its path. The hash is of all that comes
// into the image: not of times, which each checkout sets anew.
func packContext(to io.Writer, dockerfile string, leaveOut func(path string) bool) (hash []byte, err error) {
	dir := filepath.Dir(dockerfile)
	ignored, err := readIgnored(filepath.Join(dir, ignoreFile))
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	archive, timeless := tar.NewWriter(to), tar.NewWriter(sum)
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		file := filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case err != nil || name == ".":
			return err
		case name == filepath.Base(dockerfile) || name == ignoreFile: // the engine wants them
		case leaveOut(file), ignored.has(name) && !ignored.keep():
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case ignored.has(name):
			return nil
		}
		if err := pack(archive, timeless, file, name, d); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
	return sum.Sum(nil), errors.Join(err, archive.Close(), timeless.Close())
}

// pack adds a file, as long as it is by now, to two archives.
func pack(archive, timeless *tar.Writer, file, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	link := ""
	switch d.Type() {
	case 0, fs.ModeDir:
	case fs.ModeSymlink:
		link, err = os.Readlink(file)
	default:
		err = hint.Add(errors.New("it is neither a file, nor a folder, nor a link"), "name it in %s", ignoreFile)
	}
	if err != nil {
		return err
	}
	is, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	h := tar.Header{Typeflag: is.Typeflag, Name: name, Linkname: link, Size: is.Size, Mode: is.Mode}
	if err := timeless.WriteHeader(&h); err != nil {
		return err
	}
	h.ModTime = info.ModTime()
	if err := archive.WriteHeader(&h); err != nil || h.Size == 0 {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyN(io.MultiWriter(archive, timeless), f, h.Size)
	return err
}

// ignored is a .dockerignore: of its patterns the last one that matches decides.
type ignored []ignorePattern

type ignorePattern struct {
	parts []string
	keeps bool // begins with "!"
}

func readIgnored(file string) (all ignored, err error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		pattern, keeps := strings.CutPrefix(line, "!")
		pattern = path.Clean("/" + strings.TrimSpace(pattern))[1:]
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", file, line, err)
		}
		all = append(all, ignorePattern{strings.Split(pattern, "/"), keeps})
	}
	return all, nil
}

// has tells whether a file is to be left out.
func (all ignored) has(name string) (is bool) {
	for _, p := range all {
		if is == p.keeps && matches(p.parts, strings.Split(name, "/")) {
			is = !p.keeps
		}
	}
	return is
}

// keep tells whether something is kept of what is left out.
func (all ignored) keep() bool {
	return slices.ContainsFunc(all, func(p ignorePattern) bool { return p.keeps })
}

// matches tells whether a pattern is of a file, or of a folder that the file is in.
func matches(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case len(name) == 0:
		return false
	case pattern[0] == "**":
		return matches(pattern[1:], name) || matches(pattern, name[1:])
	}
	same, _ := path.Match(pattern[0], name[0]) // it was tried
	return same && matches(pattern[1:], name[1:])
}
