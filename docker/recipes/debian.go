package recipes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"recount/internal/hint"
)

// Debian is a system that is taken out of Debian's packages, for versions that can be had in no other way. Nothing is
// installed on this machine.
type Debian struct {
	Packages []string // as apt-get download takes them: "etcd-server=3.4.23*"
	Whole    bool     // all that the packages depend on is taken as well
	Drop     []string // patterns of files that the system does not need to run
	Lacks    string   // the way out for machines that have no such package
}

func (d Debian) content() []string {
	all := append(append([]string{}, d.Packages...), d.Drop...)
	if d.Whole {
		all = append(all, "folders that all may write to", "/var/run is /run") // images of before had neither
	}
	return all
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
	packages := d.Packages
	if d.Whole {
		b.progress("finding what " + strings.Join(d.Packages, ", ") + " needs")
		if packages, err = closure(ctx, debs, d.Packages); err != nil {
			return "", err
		}
	}
	progress, begun := b.progress, 0
	progress(fmt.Sprintf("downloading %d packages of Debian's", len(packages)))
	b.progress = func(line string) {
		if strings.HasPrefix(line, "Get:") { // apt-get has such a line for each that it begins
			begun++
			progress(fmt.Sprintf("downloading %d of %d packages of Debian's", min(begun, len(packages)), len(packages)))
		}
	}
	if err := b.run(ctx, debs, []string{"LC_ALL=C"}, "apt-get", append([]string{"download", "--"}, packages...)...); err != nil {
		return "", hint.Add(err, "run apt-get update if the package lists are old; otherwise: %s", d.Lacks)
	}
	files, err := fs.Glob(os.DirFS(debs), "*.deb")
	if err != nil {
		return "", err
	}
	if root, err = b.folder("root"); err != nil {
		return "", err
	}
	for i, f := range files {
		progress(fmt.Sprintf("unpacking %d of %d packages of Debian's", i+1, len(files)))
		if err := b.run(ctx, debs, nil, "dpkg-deb", "--extract", filepath.Join(debs, f), root); err != nil {
			return "", err
		}
	}
	if err := joinRun(root); err != nil {
		return "", err
	}
	for _, pattern := range d.Drop {
		paths, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			return "", err
		}
		for _, p := range paths {
			if err := os.RemoveAll(filepath.Join(root, p)); err != nil {
				return "", err
			}
		}
	}
	return root, nil
}

// joinRun makes /var/run and /var/lock other names of /run and /run/lock, as a script of base-files does, which does not run here:
// a server may make its socket by one name, and its tools look for it by the other. Without base-files there is no /run.
func joinRun(root string) error {
	if _, err := os.Stat(filepath.Join(root, "run")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock := filepath.Join(root, "run/lock")
	if err := errors.Join(os.MkdirAll(lock, 0o755), os.Chmod(lock, 0o777|fs.ModeSticky), os.MkdirAll(filepath.Join(root, "var"), 0o755)); err != nil {
		return err
	}
	for _, folder := range []string{"run", "run/lock"} {
		name := filepath.Join(root, "var", filepath.Base(folder))
		had, err := os.ReadDir(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, d := range had {
			if err := os.Rename(filepath.Join(name, d.Name()), filepath.Join(root, folder, d.Name())); err != nil {
				return err
			}
		}
		if err := errors.Join(os.RemoveAll(name), os.Symlink("../"+folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// closure is what apt would install on a machine that has nothing: the packages, and all that they depend on.
func closure(ctx context.Context, dir string, packages []string) (all []string, err error) {
	args := append([]string{"--simulate", "--no-install-recommends", "--option=Dir::State::status=/dev/null", "install", "--"}, packages...)
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if ctx.Err() != nil { // it was killed, and has not failed
		return nil, context.Cause(ctx)
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		last := strings.TrimSpace(string(failed.Stderr))
		if last == "" {
			last = strings.TrimSpace(string(out))
		}
		return nil, hint.Add(fmt.Errorf("apt-get install %s: %s", strings.Join(packages, " "), last[strings.LastIndex(last, "\n")+1:]),
			"apt-cache search finds what a package is called; apt-get update renews the lists")
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "Inst" {
			all = append(all, f[1]+"="+strings.TrimPrefix(f[2], "("))
		}
	}
	return all, nil
}
