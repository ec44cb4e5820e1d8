package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"net"

	"recount/election"
	"recount/history"
	"recount/workloads"
)

// How the harness takes the writes of nodes in containers: for its own resource, or to hand them to the target's.

// wish is what a node's writer wants: to write, or to look whether its node leads.
type wish struct {
	Look  bool
	Token uint64
	Value int64
}

// serve does what comes over one connection from a node's writer, one line each and one after the other, and answers.
func (c *containers) serve(name string, conn net.Conn) {
	defer conn.Close()
	ctx, cancel := context.WithCancel(c.lasting)
	defer cancel()
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return // the writer is gone, perhaps in the middle of a line
		}
		var w wish
		if json.Unmarshal(line, &w) != nil {
			return
		}
		var answer any
		switch {
		case w.Look:
			answer = c.look(ctx, name)
		case c.writer != nil:
			answer = c.hand(ctx, name, w)
		default:
			answer = c.take(ctx, name, w)
		}
		if ctx.Err() != nil || json.NewEncoder(conn).Encode(answer) != nil {
			return
		}
	}
}

// take has Recount's own resource decide a write.
func (c *containers) take(ctx context.Context, name string, w wish) any {
	accepted := make(chan bool, 1)
	c.Post(func() {
		p := c.fence.Begin(name, w.Token, w.Value)
		accepted <- p.Decide()
		p.End()
	})
	select {
	case ok := <-accepted:
		return map[string]bool{"accepted": ok}
	case <-ctx.Done():
		return nil
	}
}

// hand gives a write to the target's own resource. The op lasts for as long as that takes, also while the node stands still.
func (c *containers) hand(ctx context.Context, name string, w wish) any {
	begun := make(chan workloads.Pending, 1)
	c.Post(func() { begun <- c.fence.Begin(name, w.Token, w.Value) })
	var p workloads.Pending
	select {
	case p = <-begun:
	case <-ctx.Done():
		return nil
	}
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	accepted, err := c.writer.Write(within, c.member(name), c.members, election.Write{Token: w.Token, Value: w.Value})
	if ctx.Err() != nil {
		return nil // the run is over: nobody will know
	}
	c.Post(func() {
		switch {
		case err != nil:
			p.Told(history.Info, err.Error())
		case accepted:
			p.Told(history.OK, "")
		default:
			p.Told(history.Fail, "the resource refused it")
		}
	})
	return map[string]bool{"accepted": err == nil && accepted}
}

// look asks a node whether it leads, for the writer beside it.
func (c *containers) look(ctx context.Context, name string) any {
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	v, err := c.asked[name].View(within)
	switch {
	case err != nil:
		return map[string]string{"error": err.Error()}
	case v.Torn:
		return map[string]string{"error": "its answer is not of one instant"}
	}
	return map[string]any{"leads": v.Role == history.Leader, "term": v.Term}
}
