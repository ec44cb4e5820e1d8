package recipes

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

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
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out := &lines{each: b.progress}
	cmd.Stdout, cmd.Stderr = out, out
	// The program and its children, compilers for one, are a group of their own and are interrupted together: a program
	// that waits for its children and then ends leaves none that still writes into the folder. Those that have not ended
	// after interruptGrace are killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = interruptGrace
	err := cmd.Run()
	out.end()
	if ctx.Err() != nil {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly there is nobody left
		}
		return context.Cause(ctx)
	}
	if err == nil {
		return nil
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
