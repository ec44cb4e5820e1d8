package recipes

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"recount/internal/child"
	"recount/internal/hint"
)

// builder runs the steps of one recipe in a folder of its own, and tells how far they are.
type builder struct {
	dir      string
	progress func(line string)
}

// folder makes a folder within the builder's.
func (b builder) folder(name string) (string, error) {
	dir := filepath.Join(b.dir, name)
	return dir, os.MkdirAll(dir, 0o755)
}

// need is an error with the hint if this machine lacks a program.
func need(program, otherwise string) error {
	if _, err := exec.LookPath(program); err != nil {
		return hint.Add(fmt.Errorf("this machine has no %s", program), "%s", otherwise)
	}
	return nil
}

// interruptGrace is how long an interrupted program may take to end.
var interruptGrace = 10 * time.Second

// run runs a program of this machine in dir, env added to the environment. Its lines go to progress, and the last of
// them into the error.
func (b builder) run(ctx context.Context, dir string, env []string, program string, args ...string) error {
	out := &lines{each: b.progress}
	p := child.Program{Name: program, Args: args, Dir: dir, Env: append(os.Environ(), env...), Out: out, Grace: interruptGrace}
	err := p.Run(ctx)
	out.end()
	if err == nil || ctx.Err() != nil {
		return err
	}
	if len(out.last) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.Join(out.last, "; "))
	}
	return fmt.Errorf("%s %s: %w", program, args[0], err)
}

// lines gives each line written to it to somebody and keeps the last few.
type lines struct {
	each func(line string)
	rest []byte
	last []string
}

const keepLines = 4

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.add(string(line))
		l.rest = rest
	}
}

// end takes what follows the last line end as a line.
func (l *lines) end() {
	l.add(string(l.rest))
	l.rest = nil
}

func (l *lines) add(line string) {
	if line = strings.TrimSpace(line); line == "" {
		return
	}
	l.each(line)
	if l.last = append(l.last, line); len(l.last) > keepLines {
		l.last = l.last[1:]
	}
}
