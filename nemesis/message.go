package nemesis

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/history"
	"recount/internal/option"
)

// What faults share that are aimed at what happens, and not at a time: single messages, and the middle of what a node does.
// Simulated clusters know of both; of real servers it is known what they send and do, and not what that means.

// anyKind is the kind of message that stands for all.
const anyKind = "any"

var (
	kind  = option.Option{Name: "kind", Kind: option.Text, Default: anyKind, About: "which messages count, by the name that the algorithm gives them, or any"}
	nth   = option.Option{Name: "nth", Kind: option.Whole, Default: "1", About: "of those that each of the nodes sends from now on, the first that it befalls"}
	most  = option.Option{Name: "count", Kind: option.Whole, Default: "1", About: "how many it befalls"}
	until = option.Option{
		Name: "until", Kind: option.Text, Default: history.UntilTerm,
		About: "when it arrives: term, when its receiver has entered another term; lead, when somebody begins to lead; elected, when its " +
			"receiver does; start, when its receiver has restarted; heal, at the end; or after so long, such as 1.5s; or a kind, when its receiver sends such a message",
	}
)

// senders are the aims of a fault of messages.
var senders = []Aim{{"who sends the messages", "one"}, {"who is to get them", "others"}}

// message is a fault that befalls single messages.
func message(name, about string, do history.TrapDo, more ...option.Option) {
	register(&Fault{
		Name: name, About: about, Aims: senders, Events: true, Blind: do == history.Hold,
		Options: append([]option.Option{kind, nth, most}, more...),
		Draw: func(_ time.Duration, rnd *rand.Rand) map[string]string {
			with := map[string]string{"nth": few(rnd), "count": few(rnd)}
			if slices.ContainsFunc(more, func(o option.Option) bool { return o.Name == until.Name }) {
				with[until.Name] = []string{history.UntilTerm, history.UntilTerm, history.UntilLead, history.UntilStart, history.UntilHeal}[rnd.IntN(5)]
			}
			return with
		},
		Shape: func(s Scene) Shape {
			state := s.trap(do)
			if len(more) > 0 {
				state.Until = s.Options.Value(until.Name)
			}
			c := s.lay(state)
			// Nobody is to be blamed for what comes of a link that does not carry all messages in time.
			c.Links = links(s.Aims[0], s.Aims[1], history.LinkState{Picked: true})
			return constant(c)
		},
	})
}

// trap is a trap with the options that all have.
func (s Scene) trap(do history.TrapDo) history.TrapState {
	t := history.TrapState{Do: do, Pass: int(s.Options.Number(nth.Name)) - 1, Most: 1}
	if k := s.Options.Value(kind.Name); k != anyKind {
		t.Kind = k
	}
	if do != history.Finish {
		t.Most = int(s.Options.Number(most.Name))
	}
	return t
}

// lay lays a trap at each of the nodes. One of messages counts those to the second aim and no others: a node that was down when
// the aims were looked up is not among them, though it may be back later.
func (s Scene) lay(state history.TrapState) history.Changes {
	var all []history.State
	if len(s.Aims) > 1 {
		state.To = strings.Join(s.Aims[1], ",")
	}
	for _, n := range s.Aims[0] {
		all = append(all, history.Trap{Node: n, ID: s.ID, TrapState: state})
	}
	return history.ChangesOf(all...)
}

// few draws a small number, the smallest most often.
func few(rnd *rand.Rand) string {
	n := 1
	for n < 40 && rnd.IntN(2) == 0 {
		n += 1 + rnd.IntN(n)
	}
	return strconv.Itoa(n)
}

// Eventful returns the names of the faults that are aimed at what happens: those that simulated clusters can have, or of them those that
// take no kinds of messages, for real servers.
func Eventful(blind bool) (names []string) {
	for _, f := range All() {
		if f.Events && (f.Blind || !blind) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Sprung takes note that a trap of a fault has sprung: what it caught, in words, and what has become of processes by it. A
// cluster in virtual time calls it, on the loop. That processes have ended is told at once, whatever else is under way: what
// they seem to do or to leave undone would be held against them.
func (n *Nemesis) Sprung(id int, what string, did history.Changes) {
	n.sprung[id] = true
	fault := n.traps[id]
	fault.ID, fault.After = id, what
	for _, p := range did.Procs {
		ended := fault
		ended.Changes = history.Changes{Procs: []history.Proc{p}}
		n.recorder.Append(history.Op{
			Time: n.cluster.Now(), Process: history.Harness, Type: history.Info, F: history.Exit, Node: p.Node, Fault: &ended,
		})
	}
	n.turn(func() {
		i := slices.IndexFunc(n.active, func(a *active) bool { return a.fault.ID == id })
		if i < 0 { // it has healed meanwhile: what its trap has done is undone
			if did.Empty() {
				n.idle()
				return
			}
			holds := n.holds
			n.holds = holds.With(did)
			if !n.bring(history.Heal, &active{fault: fault}, holds) {
				n.holds = holds
			}
			return
		}
		a := n.active[i]
		told := *a
		told.fault.After = what
		switch {
		case did.Empty():
			n.record(history.Invoke, history.Change, told.fault, nil)
			n.record(history.OK, history.Change, told.fault, nil)
			n.idle()
		case a.recorded:
			n.bring(history.Change, &told, n.holds.With(did))
		case !a.shape.Phases[a.phase].Sprung: // another of its traps, at the same moment
			a.wants(history.Merge(a.now, did).Changes())
			n.impose(history.Change, &told)
		default:
			a.wants(did)
			a.phase++
			n.move(a)
			n.impose(history.Change, &told)
		}
	})
}

// idled says what a fault has waited for in vain: what none of its traps has sprung on, or what the cluster
// knows of it besides.
func (n *Nemesis) idled(id int, missed string) string {
	if _, laid := n.traps[id]; !laid {
		return ""
	}
	if missed == "" && !n.sprung[id] {
		return "what it waited for never came"
	}
	return missed
}
