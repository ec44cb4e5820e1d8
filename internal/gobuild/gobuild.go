// Package gobuild runs the go command for builds that may take many minutes: it tells how far they are, and of one that fails what is to
// be mended.
package gobuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"recount/internal/child"
	"recount/internal/count"
	"recount/internal/hint"
)

// pace is how long something may take until it is told how far it is, and how often it is after that.
type pace struct{ soon, every time.Duration }

var usual = pace{2 * time.Second, 10 * time.Second}

// most is how many lines of an error are told.
const most = 20

// Run runs the go command. What it is doing, "building ./server", is told with how far it is after two seconds and then after each ten;
// progress is called from another goroutine, and no more once Run returns. An error has what the go command said of what failed, a line each, indented, and as its
// hint the way out where one of its packages needs cgo. A package without a file for this system is told before anything is built.
//
// What the go command keeps while it builds lies in a folder that goes with it, also where it was killed and could not clean up.
func Run(ctx context.Context, p child.Program, what string, progress func(string)) error {
	return usual.run(ctx, p, what, progress)
}

func (at pace) run(ctx context.Context, p child.Program, what string, progress func(string)) error {
	if p.Env == nil { // then it has this process's
		p.Env = os.Environ()
	}
	within := os.Getenv("GOTMPDIR")
	if within == "" {
		within = kept(ctx, p)
	}
	work, err := os.MkdirTemp(within, "recount-build-")
	if err != nil {
		return hint.Add(fmt.Errorf("no folder for what is built on the way: %w", err),
			"GOTMPDIR, as \"go env GOTMPDIR\" tells it, is to be a folder that can be written to; where it is not set, that is the system's for temporary files")
	}
	defer os.RemoveAll(work)
	said := &output{}
	p.Out, p.Env = said, append(p.Env[:len(p.Env):len(p.Env)], "GOTMPDIR="+work)
	end := at.tell(what, said.far, progress)
	if err = lacks(ctx, p, said); err == nil {
		err = p.Run(ctx)
	}
	end()
	if err == nil || ctx.Err() != nil {
		return err
	}
	all := said.failed()
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("… and %d more lines", more))
	}
	if len(all) > 0 {
		err = fmt.Errorf("%w\n  %s", err, strings.Join(all, "\n  "))
	}
	if pkg := needsC(ctx, p, strings.Join(all, "\n")); pkg != "" {
		return hint.Add(err, "%s needs cgo, and Recount builds without: name build tags that leave it out (binary: {package: FOLDER, tags: [TAG]}), or take a dockerfile that builds it, or an image", pkg)
	}
	return err
}

// kept is the GOTMPDIR that "go env -w" has kept; "" if there is none, or no go command that could tell.
func kept(ctx context.Context, p child.Program) string {
	cmd := exec.CommandContext(ctx, p.Name, "env", "GOTMPDIR")
	cmd.Dir, cmd.Env = p.Dir, append(p.Env[:len(p.Env):len(p.Env)], "GOTOOLCHAIN=local") // another release, which may have to be fetched, says the same
	out, _ := cmd.Output()
	return strings.TrimSpace(string(out))
}

// Tell tells what takes so long, for how long it has, and what far adds to that, if it is not nil: after two seconds, and then after each ten,
// until end is called. Progress and far are called from another goroutine.
func Tell(what string, far func() string, progress func(string)) (end func()) {
	if far == nil {
		far = func() string { return "" }
	}
	return usual.tell(what, far, progress)
}

func (at pace) tell(what string, far func() string, progress func(string)) (end func()) {
	over := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		next := time.NewTimer(at.soon)
		defer next.Stop()
		for began := time.Now(); ; next.Reset(at.every) {
			select {
			case <-over:
				return
			case <-next.C:
				progress(fmt.Sprintf("%s: %v%s", what, time.Since(began).Round(time.Second), far()))
			}
		}
	})
	return func() {
		close(over)
		telling.Wait()
	}
}

// output takes what the go command says apart: what it fetched, what it compiled (with -v), and what went wrong. It may be used by several
// goroutines.
type output struct {
	mu       sync.Mutex
	rest     string // of a line that has not ended
	fetched  int
	compiled int
	at       string // the package that came last
	wrong    []string
}

var (
	fetches = regexp.MustCompile(`^go: (downloading|finding|found|extracting|trying|added) `)
	imports = regexp.MustCompile(`^[\w.~/-]+$`) // the path of a package
)

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := strings.Split(o.rest+string(b), "\n")
	for _, line := range lines[:len(lines)-1] {
		o.line(line)
	}
	o.rest = lines[len(lines)-1]
	return len(b), nil
}

func (o *output) line(line string) {
	switch line = strings.TrimSpace(line); {
	case line == "":
	case strings.HasPrefix(line, "go: downloading "):
		o.fetched++
	case fetches.MatchString(line):
	case imports.MatchString(line):
		o.compiled++
		o.at = line
	default:
		o.wrong = append(o.wrong, line)
	}
}

// far is how far the build is, to be added to how long it has been at it. The go command says nothing of packages that it has compiled before:
// of a build that goes on where one was broken off the number says little, and may stand still.
func (o *output) far() (text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fetched > 0 {
		text += ", " + count.Of(o.fetched, "module") + " fetched"
	}
	if o.compiled > 0 {
		text += fmt.Sprintf(", %s compiled besides those of before, now %s", count.Of(o.compiled, "package"), o.at)
	}
	return text
}

// failed are the lines that are of what went wrong.
func (o *output) failed() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.line(o.rest)
	o.rest = ""
	return o.wrong
}

// lacks looks, before the first build of an executable, for packages that have no file to build, and puts into said what the go command
// says of them: of those that have tests it says so only when it comes to them, which may be after minutes. Whatever else is wrong the build
// tells.
func lacks(ctx context.Context, p child.Program, said *output) error {
	out := slices.Index(p.Args, "-o") + 1
	if out == 0 || p.Args[0] != "build" {
		return nil
	}
	if _, err := os.Stat(p.Args[out]); err == nil {
		return nil
	}
	list := p
	list.Args = []string{"list", "-deps", "-e", "-f", "{{if not (or .Standard .GoFiles .CgoFiles)}}{{if .IgnoredGoFiles}}" +
		"{{.ImportPath}}: build constraints exclude all Go files in {{.Dir}}{{end}}{{end}}"}
	for _, arg := range p.Args {
		if strings.HasPrefix(arg, "-tags=") {
			list.Args = append(list.Args, arg)
		}
	}
	list.Args = append(list.Args, p.Args[len(p.Args)-1])
	listed := list.Run(ctx)
	if said.keep(excluded) > 0 && listed == nil {
		return errors.New("it has packages without a file for linux/" + runtime.GOARCH + " without cgo")
	}
	said.keep(nil)
	return ctx.Err()
}

// keep forgets all that went wrong but what matches, and returns how much that is.
func (o *output) keep(which *regexp.Regexp) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.line(o.rest)
	o.rest = ""
	o.wrong = slices.DeleteFunc(o.wrong, func(line string) bool { return which == nil || !which.MatchString(line) })
	return len(o.wrong)
}

var excluded = regexp.MustCompile(`(\S+): build constraints exclude all Go files in `)

// needsC is a package that cannot be built because all that it has needs cgo; "" if there is none.
func needsC(ctx context.Context, p child.Program, said string) string {
	for _, m := range excluded.FindAllStringSubmatch(said, -1) {
		args := []string{"list", "-find", "-f", "{{len .CgoFiles}}"}
		for _, arg := range p.Args {
			if strings.HasPrefix(arg, "-tags=") {
				args = append(args, arg)
			}
		}
		cmd := exec.CommandContext(ctx, p.Name, append(args, m[1])...)
		cmd.Dir, cmd.Env = p.Dir, append(p.Env[:len(p.Env):len(p.Env)], "CGO_ENABLED=1")
		out, err := cmd.Output()
		if files := strings.TrimSpace(string(out)); err == nil && files != "0" {
			return m[1]
		}
	}
	return ""
}
