package specfile

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"recount/election"
)

// What nodes are made of: an image, or what one is built from.

const imageWays = "name one: image (the engine has it, or pulls it; or {debian: [PACKAGES]}), dockerfile (is built), binary (a static Linux executable, or {package: FOLDER, tags: [TAG]} of one that Recount builds)"

// packageRule is what Debian calls a package, and apt a version or an architecture of it. A word that begins with - is none: apt-get
// would take it as an option, of this machine.
var packageRule = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]*(:[a-z0-9-]+)?(=\S+)?$`)

// tagRule is what Go calls a build tag.
var tagRule = regexp.MustCompile(`^[\pL\pN_.]+$`)

// coverRule is what Go calls a pattern of packages.
var coverRule = regexp.MustCompile(`^[\pL\pN_./~+-]+$`)

// readImage reads which of the ways is taken, of which there is to be one.
func (s *Spec) readImage(root value, f map[string]value) error {
	count := 0
	for _, way := range []part[func(value) error]{{"image", s.readRef}, {"dockerfile", s.readDockerfile}, {"binary", s.readBinary}} {
		v, given := f[way.name]
		if !given {
			continue
		}
		if err := way.of(v); err != nil {
			return err
		}
		s.made = v
		count++
	}
	if count > 1 {
		return root.bad(imageWays, "more than one of image, dockerfile and binary is given")
	}
	if count == 0 {
		return root.bad(imageWays, "nothing to run: image, dockerfile and binary are missing")
	}
	return nil
}

// imageWord reads a text that must say something.
func imageWord(v value) (string, error) {
	text, err := v.text()
	if err == nil && text == "" {
		err = v.bad(imageWays, "%s is empty", v.name)
	}
	return text, err
}

// readRef reads what the engine calls an image, or of which packages one is made.
func (s *Spec) readRef(v value) (err error) {
	if !v.isMapping() {
		s.Image.Ref, err = imageWord(v)
		return err
	}
	packaged, err := v.fields("debian")
	if err != nil {
		return err
	}
	d, ok := packaged["debian"]
	if !ok {
		return v.bad(imageWays, "image: debian is missing")
	}
	packages, err := d.texts()
	if err != nil {
		return err
	}
	for _, name := range packages {
		if !packageRule.MatchString(name) {
			return d.bad("debian: [redis-server, dash=0.5.12-2]", "debian: %q cannot be a package's name", name)
		}
	}
	if s.Image.Debian = strings.Join(packages, " "); s.Image.Debian == "" {
		return d.bad("debian: [redis-server]", "debian: no package is named")
	}
	return nil
}

func (s *Spec) readDockerfile(v value) error {
	path, err := imageWord(v)
	s.Image.Dockerfile = s.ofFolder(path)
	return err
}

// readBinary reads where an executable is, or the folder of the package that one is built from.
func (s *Spec) readBinary(v value) error {
	if !v.isMapping() {
		path, err := imageWord(v)
		s.Image.Binary = s.ofFolder(path)
		return err
	}
	built, err := v.fields("package", "tags", "cover")
	if err != nil {
		return err
	}
	of, ok := built["package"]
	if !ok {
		return v.bad(imageWays, "binary: package is missing")
	}
	if s.Folder, err = s.template(of); err != nil {
		return err
	}
	example, err := s.example()
	if err != nil {
		return err
	}
	folder, err := example.render(s.Folder)
	if err != nil {
		return err
	}
	if folder == "" {
		return of.bad(imageWays, "binary: package is empty")
	}
	s.Image.Package = s.ofFolder(folder)
	for _, words := range []struct {
		field     string
		rule      *regexp.Regexp
		way, what string
		of        *string
	}{
		{"tags", tagRule, "tags: [netgo, nosqlite]", "a build tag", &s.Image.Tags},
		{"cover", coverRule, "cover: [./..., github.com/hashicorp/raft]", "a pattern of packages", &s.Image.Cover},
	} {
		v, given := built[words.field]
		if !given {
			continue
		}
		all, err := v.texts()
		if err != nil {
			return err
		}
		for _, one := range all {
			if !words.rule.MatchString(one) {
				return v.bad(words.way, "%s: %q cannot be %s", words.field, one, words.what)
			}
		}
		*words.of = strings.Join(all, ",")
	}
	return nil
}

// There tells what is missing of what nodes, and servers that the file describes, are made of, and where the file names it.
func (y *system) There() error {
	if err := y.there(y.Image()); err != nil {
		return err
	}
	for _, one := range y.services {
		if one.Own == nil {
			continue
		}
		if err := one.Own.there(one.Image()); err != nil {
			return err
		}
	}
	return nil
}

func (s *Spec) there(image election.Image) error {
	const way = "; paths begin at the file's folder"
	missing := func(path, what, way string) error {
		return fmt.Errorf("spec: %s:%w", s.File, s.made.bad(way, "%s: there is no %s", s.made.name, fmt.Sprintf(what, path)))
	}
	is := func(path string, folder bool) bool {
		info, err := os.Stat(path)
		return err == nil && info.IsDir() == folder
	}
	switch {
	case image.Package != "" && !is(image.Package, true):
		folder := "binary: {package: FOLDER}"
		if strings.Contains(image.Package, "@") {
			folder += "; go mod download -json MODULE@VERSION tells where that of a published module is (Dir)"
		}
		return missing(image.Package, "folder %s to build a package in", folder+way)
	case image.Binary != "" && !is(image.Binary, false):
		return missing(image.Binary, "file %s", fmt.Sprintf("build it: CGO_ENABLED=0 GOOS=linux go build -o %s PACKAGE", image.Binary)+way)
	case image.Dockerfile != "" && !is(image.Dockerfile, false):
		return missing(image.Dockerfile, "file %s", "dockerfile: FILE"+way)
	}
	return nil
}
