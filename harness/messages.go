package harness

import (
	"context"
	"fmt"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/sim"
)

// Messages makes a simulated run of a plan once more and returns every message that its nodes sent each other, in the order in which
// their fates were known, with the history. The same plan gives the same run, byte for byte: whoever has its history can tell by it
// whether these are its messages. Only the simulator can tell; of other runs nobody has kept them.
func Messages(ctx context.Context, p record.Plan) (all []sim.Carried, h *history.History, err error) {
	if p.On != record.OnSim || !p.Known() {
		return nil, nil, Usage(hint.Add(fmt.Errorf("messages of a run on %q", p.On), "only simulated runs can be made again with their messages"))
	}
	r, _, err := unwritten(ctx, p, func(r *run) {
		r.prepare = func(c *sim.Cluster) {
			c.OnMessage(func(m sim.Carried) { all = append(all, m) })
		}
	})
	if err != nil {
		return nil, nil, err
	}
	h, err = r.recorder.History()
	return all, h, err
}

// Spoiled makes a simulated run of a plan once more, and judges it, with one of its Messages lost, or so much later where late is
// not 0: what comes of it tells what the message decided.
func Spoiled(ctx context.Context, p record.Plan, m sim.Carried, late time.Duration) (*record.Run, error) {
	r, rep, err := unwritten(ctx, p, func(r *run) {
		r.unkept, r.prepare = &history.Frame{}, func(c *sim.Cluster) { c.Spoil(m, late) }
	})
	if err != nil {
		return nil, err
	}
	return rep, r.judged(ctx, rep)
}

// Sent is a message of a simulated run as the folders of others keep theirs.
func Sent(m *sim.Carried) record.Message {
	return record.Message{From: m.From, To: m.To, Sent: m.Sent, Arrived: m.Arrived, Lost: m.Lost, Late: m.Late, Kind: m.Message.Kind,
		Term: m.Message.Term, Words: contents(m)}
}

// contents is what a message says, in words.
func contents(m *sim.Carried) string {
	s := m.Message.Kind
	if m.Message.Term != 0 {
		s += fmt.Sprintf(" term %d", m.Message.Term)
	}
	if m.Message.Value != 0 {
		s += fmt.Sprintf(" value %d", m.Message.Value)
	}
	if m.Message.Node != 0 {
		s += " about " + m.Message.Node.String()
	}
	if m.Message.OK {
		s += " yes"
	}
	if n := len(m.Message.List); n > 0 {
		s += fmt.Sprintf(" list %v", m.Message.List)
	}
	if n := len(m.Message.Data); n > 0 {
		s += fmt.Sprintf(" and %d bytes", n)
	}
	return s
}
