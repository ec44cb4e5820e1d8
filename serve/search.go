package serve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"recount/history"
	"recount/report"
)

// What can be searched for: a few forms, each a sentence with a number or a choice in it. docs/serve.md lists them.

// form is one of them.
type form struct {
	Name   string
	Before string // the sentence, up to its fields …
	After  string // … and after them
	Number float64
	Unit   string   // what the number counts; "" if the form has none
	While  []string // what to choose from; nil if the form has no choice
	Node   bool     // it asks for a node

	find func(d *digest, q *question, hit func(at time.Duration, format string, args ...any))
}

// question is a form filled in.
type question struct {
	*form
	Target string
	N      float64
	State  string // of While
	Who    string // a node; "" is any
}

// whiles are what can be the matter with a node.
var whiles = []string{"paused", "down", "cut off", "under any fault", "under no fault"}

var forms = []form{
	{
		Name: "change-without-fault", Before: "leader change not preceded by a fault within", Number: 2, Unit: "silences",
		find: func(d *digest, q *question, hit func(time.Duration, string, ...any)) {
			for was, c := range d.changes() {
				from := c.From - time.Duration(q.N*float64(d.silence))
				if !slices.ContainsFunc(d.faults, func(f brokenBy) bool { return f.From <= c.From && f.To >= from && f.took != history.Fail }) {
					hit(c.From, "%s led, then %s, and no fault was near", d.names[was.Node], d.names[c.Node])
				}
			}
		},
	},
	{
		Name: "two-leaders", Before: "two leaders while", After: "was", While: whiles, Node: true,
		find: func(d *digest, q *question, hit func(time.Duration, string, ...any)) {
			for _, b := range d.both {
				var who []string
				for _, c := range d.claims {
					if c.From <= b.From && c.To >= b.To && !slices.Contains(who, d.names[c.Node]) {
						who = append(who, d.names[c.Node])
					}
				}
				if what, was := d.during(b, q.State, q.Who); was {
					hit(b.From, "%s led at once for %s%s", strings.Join(who, " and "), report.Seconds(b.Length()), what)
				}
			}
		},
	},
	{
		Name: "no-leader", Before: "no leader for longer than", Number: 1, Unit: "times what an election may take",
		find: func(d *digest, q *question, hit func(time.Duration, string, ...any)) {
			for _, g := range d.gaps() {
				if float64(g.Length()) > q.N*float64(d.elect) && d.elect > 0 {
					hit(g.From, "nobody led for %s", report.Seconds(g.Length()))
				}
			}
		},
	},
	{
		Name: "returned", Before: "leadership that went to another node and back within", Number: 3, Unit: "silences",
		find: func(d *digest, q *question, hit func(time.Duration, string, ...any)) {
			var lost report.Claim // whom the last change took leadership from
			var since time.Duration
			for was, c := range d.changes() {
				if since > 0 && c.Node == lost.Node && float64(c.From-since) <= q.N*float64(d.silence) {
					hit(c.From, "%s leads again, %s after %s took over", d.names[c.Node], report.Seconds(c.From-since), d.names[was.Node])
				}
				lost, since = was, c.From
			}
		},
	},
	{
		Name: "terms-rise", Before: "terms that rose within one silence by", After: "or more", Number: 3, Unit: "",
		find: func(d *digest, q *question, hit func(time.Duration, string, ...any)) {
			k := 0
			for i, r := range d.rises {
				for d.rises[k].at < r.at-d.silence {
					k++
				}
				low := d.rises[max(k-1, 0)].term // that was known when the silence began
				if i > 0 && float64(r.term-low) >= q.N {
					hit(r.at, "from term %d to %d", low, r.term)
					k = i + 1
					if k == len(d.rises) {
						return
					}
				}
			}
		},
	},
	{
		Name: "unmoved", Before: "leader hit by a fault, and still leading after", Number: 2, Unit: "silences of it",
		find: func(d *digest, q *question, hit func(time.Duration, string, ...any)) {
			for _, f := range d.faults {
				for k, role := range f.roles {
					long := time.Duration(q.N * float64(d.silence))
					if role != "leader" || f.took == history.Fail || f.Length() < long {
						continue
					}
					for _, c := range d.claims {
						if c.Node == f.nodes[k] && c.From <= f.From && c.Seen >= f.From+long {
							hit(f.From+long, "%s led on under %s", d.names[c.Node], f.name)
						}
					}
				}
			}
		},
	},
	{
		Name: "candidate", Before: "candidate for longer than", Number: 5, Unit: "silences",
		find: func(d *digest, q *question, hit func(time.Duration, string, ...any)) {
			for _, c := range d.runs {
				if float64(c.Length()) > q.N*float64(d.silence) && d.silence > 0 {
					hit(c.From, "%s was a candidate for %s", d.names[c.node], report.Seconds(c.Length()))
				}
			}
		},
	},
	{
		Name: "stale-write", Before: "write that was accepted although its token was stale",
		find: func(d *digest, _ *question, hit func(time.Duration, string, ...any)) {
			for _, at := range d.writes {
				hit(at, "a stale write was accepted")
			}
		},
	},
	{
		Name: "no-effect", Before: "fault that did not take effect, or of which nobody knows",
		find: func(d *digest, _ *question, hit func(time.Duration, string, ...any)) {
			for _, f := range d.faults {
				switch f.took {
				case history.Fail:
					hit(f.From, "%s did not take effect", f.name)
				case history.Info:
					hit(f.From, "nobody knows whether %s took effect", f.name)
				}
			}
		},
	},
	{
		Name: "ended", Before: "process that ended by itself",
		find: func(d *digest, _ *question, hit func(time.Duration, string, ...any)) {
			for _, e := range d.exits {
				hit(e.From, "%s ended by itself", d.names[e.node])
			}
		},
	},
}

// Numbered reports whether the form has a number.
func (f *form) Numbered() bool { return f.Number > 0 }

// changes are leaderships that went to another node, each with the one before it.
func (d *digest) changes() func(yield func(was, is report.Claim) bool) {
	return func(yield func(was, is report.Claim) bool) {
		for i := 1; i < len(d.claims); i++ {
			if d.claims[i].Node != d.claims[i-1].Node && !yield(d.claims[i-1], d.claims[i]) {
				return
			}
		}
	}
}

// during tells whether a node, or any, was in a state at some time of a span, and what was the matter.
func (d *digest) during(s report.Span, state, node string) (what string, was bool) {
	meets := func(o report.Span) bool { return o.From < s.To && s.From < o.To }
	asked := func(n int) bool { return node == "" || d.names[n] == node }
	switch state {
	case "paused", "down":
		for _, a := range d.away {
			if meets(a.Span) && asked(a.node) && report.Still(a.was) == (state == "paused") {
				return fmt.Sprintf(" while %s was %s", d.names[a.node], a.was), true
			}
		}
		return "", false
	}
	none := true
	for _, f := range d.faults {
		nodes := f.nodes
		if state == "cut off" {
			nodes = f.cut
		}
		if !meets(f.Span) || f.took == history.Fail || len(nodes) == 0 && (node != "" || state == "cut off") || len(nodes) > 0 && !slices.ContainsFunc(nodes, asked) {
			continue
		}
		if none = false; state != "under no fault" {
			return " under " + f.name, true
		}
	}
	return "", none && state == "under no fault"
}

// Hit is an instant of a run that an answer names.
type Hit struct {
	Run   string        `json:"run"`
	At    time.Duration `json:"at"`
	Words string        `json:"words"`
}

const (
	mostHits = 500
	mostEach = 5 // of one run
)

// search looks for what a question asks for, in the newest runs first. more is how many further hits there are.
func (s *Server) search(ctx context.Context, q *question) (hits []Hit, searched, more, left int) {
	var some []*Run
	for _, r := range s.index.now().runs {
		if q.Target == "" || r.Target == q.Target {
			some = append(some, r)
		}
	}
	have, left := s.digests.of(ctx, some)
	for _, r := range some {
		d := have[r]
		if d == nil {
			continue
		}
		searched++
		n := 0
		q.find(d, q, func(at time.Duration, format string, args ...any) {
			if n++; n > mostEach || len(hits) == mostHits {
				more++
				return
			}
			hits = append(hits, Hit{r.ID, at, fmt.Sprintf(format, args...)})
		})
	}
	return hits, searched, more, left
}

// question reads one; without a form it is nil.
func (q *query) question() *question {
	name := q.one("form", "", formNames())
	if name == "" {
		return nil
	}
	f := &forms[slices.Index(formNames(), name)]
	asks := &question{form: f, Target: q.Get("target"), N: q.number("n", f.Number, 0, 1e6), Who: strings.TrimSpace(q.Get("node"))}
	if len(f.While) > 0 {
		asks.State = q.one("while", f.While[0], f.While)
	}
	if asks.Who == "any" {
		asks.Who = ""
	}
	return asks
}

func formNames() (names []string) {
	for i := range forms {
		names = append(names, forms[i].Name)
	}
	return names
}
