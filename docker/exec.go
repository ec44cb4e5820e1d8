package docker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"recount/docker/agent"
	"recount/internal/hint"
	"recount/internal/term"
)

// ErrNoProgram tells that a container does not have a program that it is to run. It will not have it later, either.
var ErrNoProgram = errors.New("the container has no such program")

// errStopped tells that a node's processes stand still.
var errStopped = errors.New("its processes stand still")

// runtimeSays begins what an engine's runtime writes when it cannot begin to run a command.
const runtimeSays = "OCI runtime exec failed"

// inEnded is in what runtimes write of a container whose process has ended, while the engine does not know it yet: runc
// "cannot exec in a stopped container", containerd's shim "cannot exec in a stopped state".
const inEnded = "cannot exec in a stopped"

// maxOutput is what a command may print, in bytes.
const maxOutput = 8 << 20

// output keeps what a command prints.
type output struct{ bytes.Buffer }

func (o *output) Write(b []byte) (int, error) {
	if o.Len()+len(b) > maxOutput {
		return 0, fmt.Errorf("it prints more than %d MiB", maxOutput>>20)
	}
	return o.Buffer.Write(b)
}

// exitError is how a command ended, and what it had printed. It implements election.Ended.
type exitError struct {
	status         int
	stdout, stderr string
}

// Error tells the status and what was printed: to the standard error, or else to the standard output.
func (e *exitError) Error() string {
	said := cmp.Or(strings.TrimSpace(e.stderr), strings.TrimSpace(e.stdout))
	return strings.TrimSuffix(fmt.Sprintf("exit status %d: %s", e.status, said), ": ")
}

func (e *exitError) Printed() (stdout, stderr string) { return e.stdout, e.stderr }

// Exec runs a command in a node's own container and returns what it writes to its standard output. It fails with what the
// command printed where the command does, and where the node's processes stand still: what is started beside
// them would run, and tell what they had left behind as if it was their word. It may be called from any goroutine, and fails until the
// node was launched.
func (c *Cluster) Exec(ctx context.Context, node string, command []string) ([]byte, error) {
	if len(command) == 0 {
		return nil, fmt.Errorf("exec on %s: the command is empty", node)
	}
	out, err := c.exec(ctx, node, command)
	if err != nil {
		return nil, fmt.Errorf("exec %s on %s: %w", called(command), node, noProgram(command[0], err))
	}
	return out, nil
}

// called is what a command goes by in an error: one line, of which a script has no more than its beginning.
func called(command []string) string {
	return term.Clip(strings.Join(strings.Fields(strings.Join(command, " ")), " "), 120)
}

func (c *Cluster) exec(ctx context.Context, node string, command []string) ([]byte, error) {
	n := c.nodes[node]
	id := c.container(n)
	if id == "" {
		return nil, errors.New("it was never started")
	}
	if n.stopped.Load() {
		return nil, errStopped
	}
	api := c.engine.api
	made, err := api.ContainerExecCreate(ctx, id, container.ExecOptions{Cmd: command, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return nil, err
	}
	attached, err := api.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	if err != nil { // of which the engine may have begun it all the same
		c.abandon(node, made.ID)
		return nil, err
	}
	defer attached.Close()
	stop := context.AfterFunc(ctx, attached.Close)
	defer stop()
	var out, errs output
	_, err = stdcopy.StdCopy(&out, &errs, attached.Reader)
	switch {
	case ctx.Err() != nil || err != nil:
		c.abandon(node, made.ID)
		return nil, cmp.Or(ctx.Err(), err)
	case n.stopped.Load(): // it may have begun just before that
		return nil, errStopped
	}
	is, err := api.ContainerExecInspect(ctx, made.ID)
	if err != nil {
		return nil, err
	}
	if is.ExitCode == 0 {
		return out.Bytes(), nil
	}
	return nil, refused(is.ExitCode, command[0], out.String(), errs.String())
}

// abandon ends a command that nobody waits for any more: the engine lets it run on, and those of a server that hangs would gather in its
// container.
func (c *Cluster) abandon(node, exec string) {
	ctx, cancel := context.WithTimeout(c.ctx, time.Second)
	defer cancel()
	for ctx.Err() == nil {
		is, err := c.engine.api.ContainerExecInspect(ctx, exec)
		if err != nil || !is.Running {
			return
		}
		if is.Pid > 0 {
			_, _ = c.remote.ask(ctx, agent.Request{Abandon: &agent.Command{Node: node, Pid: is.Pid}})
			return
		}
		time.Sleep(20 * time.Millisecond) // the engine has only just begun it
	}
}

// refused is why a command failed, by its status and what was printed: by itself, or by what was to run it.
func refused(status int, program, out, errs string) error {
	said := strings.TrimSpace(cmp.Or(errs, out))
	byRuntime := strings.HasPrefix(said, runtimeSays)
	switch {
	case (byRuntime || status == 126) && strings.Contains(said, inEnded):
		return errors.New("its process has ended")
	case byRuntime:
		return noProgram(program, fmt.Errorf("exit status %d: %s", status, said))
	case status == 126 || status == 127: // as shells have it
		return fmt.Errorf("%w, or cannot run it: exit status %d: %s", ErrNoProgram, status, said)
	default:
		return &exitError{status, out, errs}
	}
}

// noProgram is ErrNoProgram, if an engine's runtime says so, or else the error.
func noProgram(program string, err error) error {
	if !strings.Contains(err.Error(), runtimeSays) {
		return err
	}
	return hint.Add(fmt.Errorf("%w: %s", ErrNoProgram, program),
		"an image of a static binary has that alone, no shell and no tools: ask by http, or take an image that has them")
}
