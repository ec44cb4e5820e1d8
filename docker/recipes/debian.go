package recipes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"recount/internal/hint"
)

// Debian is a system that is taken out of Debian's packages, for versions that can be had in no other way. Nothing is
// installed on this machine.
type Debian struct {
	Packages []string // as apt-get download takes them: "etcd-server=3.4.23*"
	Drop     []string // patterns of files that the system does not need to run
	Lacks    string   // the way out for machines that have no such package
}

func (d Debian) content() []string {
	return append(append([]string{}, d.Packages...), d.Drop...)
}

func (d Debian) make(ctx context.Context, b builder) (root string, err error) {
	for _, tool := range []string{"apt-get", "dpkg-deb"} {
		if err := need(tool, d.Lacks); err != nil {
			return "", fmt.Errorf("it comes from Debian packages: %w", err)
		}
	}
	debs, err := b.folder("debs")
	if err != nil {
		return "", err
	}
	if err := b.run(ctx, debs, []string{"LC_ALL=C"}, "apt-get", append([]string{"download"}, d.Packages...)...); err != nil {
		return "", hint.Add(err, "run apt-get update if the package lists are old; otherwise: %s", d.Lacks)
	}
	files, err := filepath.Glob(filepath.Join(debs, "*.deb"))
	if err != nil {
		return "", err
	}
	if root, err = b.folder("root"); err != nil {
		return "", err
	}
	for _, f := range files {
		b.progress("unpack " + filepath.Base(f))
		if err := b.run(ctx, debs, nil, "dpkg-deb", "--extract", f, root); err != nil {
			return "", err
		}
	}
	for _, pattern := range d.Drop {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return "", err
		}
		for _, p := range paths {
			if err := os.RemoveAll(p); err != nil {
				return "", err
			}
		}
	}
	return root, nil
}
