package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"recount/docker/agent"
	"recount/internal/bounded"
)

// Logs calls line on the loop with each line that the node writes to its standard output and error, and to its Container's Log, through all
// its lives. It must be called before Launch, or lines would be missed.
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
		long := c.longLine(n)
		out, errs := &lineWriter{give: c.giver(n), long: long}, &lineWriter{give: c.giver(n), long: long}
		// A broken stream ends the log; if the engine is lost, others will tell.
		stdcopy.StdCopy(out, errs, attached.Reader)
		out.flush()
		errs.flush()
	})
	return nil
}

// longLine returns what tells of the first line that was broken.
func (c *Cluster) longLine(n *node) func() {
	return sync.OnceFunc(func() {
		c.config.Log(fmt.Sprintf("%s: its log has a line of more than %d MiB, which is read in pieces", n.name, maxLogLine>>20))
	})
}

// tail reads the log of a node that is a file, through all its lives: the agent does, in the node's own files.
func (c *Cluster) tail(ctx context.Context, n *node) error {
	within, cancel := context.WithTimeout(ctx, applyWithin)
	defer cancel()
	var answer agent.Tailing
	stream, err := c.remote.begin(within, agent.Opening{Tail: &agent.Tail{Node: n.name}}, &answer)
	if err != nil {
		return fmt.Errorf("read the log of %s: %w", n.name, err)
	}
	if answer.Error != "" {
		stream.Close()
		return fmt.Errorf("read the log of %s: %s", n.name, answer.Error)
	}
	stop := context.AfterFunc(c.ctx, func() { stream.Close() })
	c.work.Go(func() {
		defer stream.Close()
		defer stop()
		lines := &lineWriter{give: c.giver(n), long: c.longLine(n)}
		for all := agent.Lines(stream); all.Scan(); {
			var t agent.Tailed
			if json.Unmarshal(all.Bytes(), &t) != nil {
				return
			}
			if t.Error != "" {
				n.unreadable.Store(&t.Error)
			}
			n.read.Add(int64(len(t.Text)))
			lines.Write(t.Text)
		}
	})
	return nil
}

// Unlogged tells of each node that has a Log, and of which nothing was read there, why not.
func (c *Cluster) Unlogged() map[string]error {
	all := map[string]error{}
	for _, n := range c.nodes {
		if n.logs == nil || n.logFile == "" || n.read.Load() > 0 {
			continue
		}
		all[n.name] = fmt.Errorf("%s is not there, or empty", n.logFile)
		if why := n.unreadable.Load(); why != nil {
			all[n.name] = errors.New(*why)
		}
	}
	return all
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

// SaveLogs writes the whole log of each node, and of its sidecars, to a folder: n1.log, n1-sidecar-1.log. Where a node has a Log, that stands
// behind what it has written besides, as it is now.
func (c *Cluster) SaveLogs(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save the logs of nodes: %w", err)
	}
	err := each(c.names, func(_ int, name string) error {
		return each(c.places(c.nodes[name]), func(i int, ids []string) error {
			if i > 0 {
				return c.saveLog(ctx, ids, nil, filepath.Join(dir, fmt.Sprintf("%s-sidecar-%d.log", name, i)))
			}
			return c.saveLog(ctx, ids, c.logFiles(c.nodes[name]), filepath.Join(dir, name+".log"))
		})
	})
	if err != nil {
		return fmt.Errorf("save the logs of nodes: %w", err)
	}
	return nil
}

// logFiles are the files that a node's programs have written their logs to, in the order of its containers; "" for none.
func (c *Cluster) logFiles(n *node) []string {
	c.containers.Lock()
	defer c.containers.Unlock()
	return append(slices.Clone(n.wroteTo), n.logFile)
}

// saveLog writes what containers have written, one after the other: to their outputs, and to their files, where there are any.
func (c *Cluster) saveLog(ctx context.Context, ids, files []string, path string) (err error) {
	if slices.Contains(ids, "") {
		return nil // Launch did not get so far
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := &bounded.Log{To: f, Room: bounded.MaxLog}
	for i, id := range ids {
		log, err := c.engine.api.ContainerLogs(ctx, id, container.LogsOptions{ShowStdout: true, ShowStderr: true})
		if err != nil {
			return err
		}
		_, err = stdcopy.StdCopy(b, b, log)
		if err = errors.Join(err, log.Close()); err != nil {
			return err
		}
		if i < len(files) && files[i] != "" {
			if err := c.engine.copyFile(ctx, b, id, files[i]); err != nil {
				return err
			}
		}
	}
	_, err = f.WriteString(b.Rest())
	return err
}
