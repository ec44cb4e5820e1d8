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

	call   *call  // the command under way, or the one before: the next takes its place
	given  int    // commands
	waited int    // those of them whose patience has ended, in the same order
	expire func() // its own method expired
}

// call is where a command's answer is expected. An answer that comes after patience has ended finds its call given up.
type call struct {
	*client
	op     history.Op // as it was recorded last
	told   func(value uint64)
	done   func(t history.Type, problem string)
	busy   bool
	answer func(value uint64, err error) // its own method answered
}

// give gives a command as the op, and calls done with what became of it: ok, or fail or info and why.
func (c *client) give(op history.Op, cmd election.Command, done func(t history.Type, problem string)) {
	c.ask(op, cmd, func(uint64) {}, done)
}

// ask is give, and calls told before, with the value of an answer that is ok.
func (c *client) ask(op history.Op, cmd election.Command, told func(value uint64), done func(t history.Type, problem string)) {
	if c.call == nil {
		c.call = &call{client: c}
		c.call.answer, c.expire = c.call.answered, c.expired
	}
	k := c.call
	k.op, k.told, k.done, k.busy = op, told, done, true
	k.op.Process = c.process
	k.record(history.Invoke, "")
	c.cluster.Command(op.Node, cmd, k.answer)
	c.given++
	c.cluster.After(c.patience, c.expire)
}

// expired is called once for each command, when patience with it ends.
func (c *client) expired() {
	if c.waited++; c.waited == c.given && c.call != nil && c.call.busy {
		k := c.call
		c.call = nil
		k.end(history.Info, "no answer")
	}
}

func (k *call) answered(value uint64, err error) {
	switch {
	case !k.busy:
	case err != nil:
		k.end(history.Fail, err.Error())
	default:
		k.told(value)
		if k.op.F == history.Get {
			k.op.Reg = &history.Register{Value: word(value)}
		}
		k.end(history.OK, "")
	}
}

func (k *call) end(t history.Type, problem string) {
	k.busy = false
	k.record(t, problem)
	if t == history.Info {
		k.process += k.stride
	}
	k.done(t, problem)
}

func (k *call) record(t history.Type, problem string) {
	k.op.Time, k.op.Type, k.op.Error = k.cluster.Now(), t, problem
	k.recorder.Record(&k.op)
}
