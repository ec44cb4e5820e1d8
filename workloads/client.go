package workloads

import (
	"time"

	"recount/election"
	"recount/history"
)

// client gives commands to nodes, one at a time, and records them. One that is not answered in time is given up, and its
// process with it.
type client struct {
	cluster  Cluster
	recorder *history.Recorder
	process  history.Process
	stride   history.Process // to the next process, once this one is lost
	patience time.Duration
	turn     int // counts the commands: a late answer finds another one
}

// give gives a command as the op, and calls done with what became of it: ok, or fail or info and why.
func (c *client) give(op history.Op, cmd election.Command, done func(t history.Type, problem string)) {
	c.ask(op, cmd, func(uint64) {}, done)
}

// ask is give, and calls told before, with the value of an answer that is ok.
func (c *client) ask(op history.Op, cmd election.Command, told func(value uint64), done func(t history.Type, problem string)) {
	c.turn++
	turn := c.turn
	op.Process = c.process
	record := func(t history.Type, value uint64, problem string) {
		op.Time, op.Type, op.Error = c.cluster.Now(), t, problem
		if op.F == history.Get && t == history.OK {
			op.Reg = &history.Register{Value: word(value)}
		}
		c.recorder.Append(op)
	}
	record(history.Invoke, 0, "")
	end := func(t history.Type, value uint64, problem string) {
		if turn != c.turn {
			return
		}
		c.turn++
		record(t, value, problem)
		if t == history.Info {
			c.process += c.stride
		}
		done(t, problem)
	}
	c.cluster.Command(op.Node, cmd, func(value uint64, err error) {
		if err != nil {
			end(history.Fail, 0, err.Error())
			return
		}
		if turn == c.turn {
			told(value)
		}
		end(history.OK, value, "")
	})
	c.cluster.After(c.patience, func() { end(history.Info, 0, "no answer") })
}
