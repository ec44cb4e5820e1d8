package docker

import (
	"context"
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// release unmounts disks that a killed run has left mounted, which its agent does if it can. A dead mount would keep the
// engine from removing its volume, and for good: an engine that fails to remove a volume forgets its labels.
func (e *Engine) release(ctx context.Context, run, image string, folders []string) error {
	config := containerConfig{
		container: container.Config{
			Image: image, Cmd: append([]string{SelfPath, "release"}, folders...),
			Labels: map[string]string{labelRun: run, labelOwner: ownLabel(), labelRole: roleRelease},
		},
		host: agentHost(false),
	}
	config.host.LogConfig = container.LogConfig{Type: "json-file"}
	made, err := e.api.ContainerCreate(ctx, &config.container, &config.host, nil, nil, "")
	if err != nil {
		return fmt.Errorf("release disks of run %s: %w", run, err)
	}
	defer e.remove(context.WithoutCancel(ctx), made.ID, roleRelease) // also when ctx has ended
	if err := e.api.ContainerStart(ctx, made.ID, container.StartOptions{}); err != nil {
		return fmt.Errorf("release disks of run %s: %w", run, err)
	}
	status, err := e.exit(ctx, made.ID)
	if err == nil && status != 0 {
		err = fmt.Errorf("exit status %d, saying %q", status, e.said(ctx, made.ID))
	}
	if err != nil {
		return fmt.Errorf("release disks of run %s: %w", run, err)
	}
	return nil
}

// said is what a container that has ended has written.
func (e *Engine) said(ctx context.Context, id string) string {
	logs, err := e.api.ContainerLogs(ctx, id, container.LogsOptions{ShowStdout: true, ShowStderr: true})
	if err != nil {
		return ""
	}
	defer logs.Close()
	var all lastWords
	if _, err := stdcopy.StdCopy(&all, &all, logs); err != nil {
		return ""
	}
	return strings.TrimSpace(all.String())
}
