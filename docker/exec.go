package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// Exec runs a command in a node's own container and returns what it writes to its standard output. It fails with what the
// command writes to its standard error, where the command does. It may be called from any goroutine, once Launch has
// returned.
func (c *Cluster) Exec(ctx context.Context, node string, command []string) ([]byte, error) {
	out, err := c.exec(ctx, node, command)
	if err != nil {
		return nil, fmt.Errorf("exec %s on %s: %w", strings.Join(command, " "), node, err)
	}
	return out, nil
}

func (c *Cluster) exec(ctx context.Context, node string, command []string) ([]byte, error) {
	n := c.nodes[node]
	if n == nil || len(n.containers) == 0 || n.containers[0] == "" {
		return nil, errors.New("it was never started")
	}
	api := c.engine.api
	made, err := api.ContainerExecCreate(ctx, n.containers[0], container.ExecOptions{Cmd: command, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return nil, err
	}
	attached, err := api.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	if err != nil {
		return nil, err
	}
	defer attached.Close()
	stop := context.AfterFunc(ctx, attached.Close)
	defer stop()
	var out, errs bytes.Buffer
	_, err = stdcopy.StdCopy(&out, &errs, attached.Reader)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	is, err := api.ContainerExecInspect(ctx, made.ID)
	if err != nil {
		return nil, err
	}
	if is.ExitCode != 0 {
		return nil, fmt.Errorf("exit status %d: %s", is.ExitCode, strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), nil
}
