package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"recount/internal/bounded"
)

// Logs calls line on the loop with each line that the node writes to its standard output and error, through all its
// lives. It must be called before Launch, or lines would be missed.
func (c *Cluster) Logs(node string, line func(text string)) {
	n := c.nodes[node]
	switch {
	case n.containers != nil:
		panic("docker: Logs called after Launch: " + node)
	case n.logs != nil:
		panic("docker: Logs called twice: " + node)
	}
	n.logs = line
}

// follow reads the log of the life that is about to begin. It attaches to the container rather than reading the log that
// the engine keeps: what the process writes arrives in a millisecond, and nothing is read twice.
func (c *Cluster) follow(ctx context.Context, n *node, l *life) error {
	if n.logs == nil {
		close(l.logged)
		return nil
	}
	attached, err := c.engine.api.ContainerAttach(ctx, n.containers[0], container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return fmt.Errorf("follow log: %w", err)
	}
	l.hangUp = attached.Close
	stop := context.AfterFunc(c.ctx, attached.Close)
	c.work.Go(func() {
		defer close(l.logged)
		defer attached.Close()
		defer stop()
		long := sync.OnceFunc(func() {
			c.config.Log(fmt.Sprintf("%s: its log has a line of more than %d MiB, which is read in pieces", n.name, maxLogLine>>20))
		})
		out, errs := &lineWriter{give: c.giver(n), long: long}, &lineWriter{give: c.giver(n), long: long}
		// A broken stream ends the log; if the engine is lost, others will tell.
		stdcopy.StdCopy(out, errs, attached.Reader)
		out.flush()
		errs.flush()
	})
	return nil
}

// giver returns a function that has lines taken note of on the loop, and returns when they were: a node that writes
// faster than the run can read is slowed down, and fills no memory.
func (c *Cluster) giver(n *node) func(lines []string) {
	return func(lines []string) {
		done := make(chan struct{})
		c.Post(func() {
			defer close(done)
			for _, text := range lines {
				n.logs(text)
			}
		})
		select {
		case <-done:
		case <-c.ctx.Done():
		}
	}
}

// maxLogLine is where a line that does not end is broken.
const maxLogLine = 1 << 20

// lineWriter cuts what is written to it into lines.
type lineWriter struct {
	rest []byte
	give func(lines []string)
	long func() // told of a line that was broken
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	var lines []string
	for {
		line, after, ended := bytes.Cut(w.rest, []byte("\n"))
		if !ended && len(w.rest) < maxLogLine {
			break
		}
		if !ended {
			w.long()
		}
		lines = append(lines, string(bytes.TrimSuffix(line, []byte("\r"))))
		w.rest = after
	}
	if lines != nil {
		w.give(lines)
	}
	return len(b), nil
}

func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		w.give([]string{string(w.rest)})
		w.rest = nil
	}
}

// SaveLogs writes the whole log of each node, and of its sidecars, to a folder: n1.log, n1-sidecar-1.log.
func (c *Cluster) SaveLogs(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save the logs of nodes: %w", err)
	}
	err := each(c.names, func(_ int, name string) error {
		return each(c.places(c.nodes[name]), func(i int, ids []string) error {
			file := name + ".log"
			if i > 0 {
				file = fmt.Sprintf("%s-sidecar-%d.log", name, i)
			}
			return c.saveLog(ctx, ids, filepath.Join(dir, file))
		})
	})
	if err != nil {
		return fmt.Errorf("save the logs of nodes: %w", err)
	}
	return nil
}

// saveLog writes what containers have written, one after the other.
func (c *Cluster) saveLog(ctx context.Context, ids []string, path string) (err error) {
	if slices.Contains(ids, "") {
		return nil // Launch did not get so far
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := &bounded.Log{To: f, Room: bounded.MaxLog}
	for _, id := range ids {
		log, err := c.engine.api.ContainerLogs(ctx, id, container.LogsOptions{ShowStdout: true, ShowStderr: true})
		if err != nil {
			return err
		}
		_, err = stdcopy.StdCopy(b, b, log)
		if err = errors.Join(err, log.Close()); err != nil {
			return err
		}
	}
	_, err = f.WriteString(b.Rest())
	return err
}
