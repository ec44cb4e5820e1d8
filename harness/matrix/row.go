package matrix

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"recount/harness"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/targets"
)

// Row is an election: a target that runs where the matrix is measured, with options that are not its defaults.
//
// On the command line it is one word: "raft", "raft:vote-twice", "raft:pre-vote=true:scale=2".
type Row struct {
	Word    string            `json:"word"`
	Target  string            `json:"target"`
	Options map[string]string `json:"options,omitempty"`
	About   string            `json:"about"`
	// Breaks are the properties that an option breaks on purpose: then the row is a foot-gun.
	Breaks []string `json:"breaks,omitempty"`

	found   *targets.Target
	options targets.Options
	without *Row // the same without foot-guns; nil if it has none
}

// FootGun reports whether r is wrong on purpose.
func (r Row) FootGun() bool { return len(r.Breaks) > 0 }

// guns are the options that make it so.
func (r *Row) guns() (names []string) {
	for _, k := range slices.Sorted(maps.Keys(r.Options)) {
		if o := option(r.found, k); len(o.Breaks) > 0 && r.Options[k] != o.Default {
			names = append(names, k)
		}
	}
	return names
}

// Words for many rows at once.
const (
	AllRows  = "all"       // every target, and every foot-gun
	Targets  = "targets"   // every target as it is
	FootGuns = "foot-guns" // every option that makes a target wrong on purpose
)

// ParseRows looks up rows by their words, for a place where runs are to be made.
func ParseRows(words []string, on string) (rows []Row, err error) {
	for _, w := range words {
		switch w {
		case AllRows:
			rows = append(rows, everyRow(on)...)
		case Targets:
			rows = append(rows, slices.DeleteFunc(everyRow(on), Row.FootGun)...)
		case FootGuns:
			rows = append(rows, footGuns(on)...)
		default:
			r, err := parseRow(w, on)
			if err != nil {
				return nil, err
			}
			rows = append(rows, r)
		}
	}
	seen := map[string]bool{}
	rows = slices.DeleteFunc(rows, func(r Row) bool {
		twice := seen[r.Word]
		seen[r.Word] = true
		return twice
	})
	return rows, nil
}

func parseRow(word, on string) (Row, error) {
	name, rest, _ := strings.Cut(word, ":")
	t, err := targets.Find(name)
	if err != nil {
		return Row{}, err
	}
	r := Row{Word: word, Target: name}
	for _, o := range strings.Split(rest, ":") {
		if o == "" {
			continue
		}
		k, v, given := strings.Cut(o, "=")
		if !given {
			v = "true"
		}
		if r.Options == nil {
			r.Options = map[string]string{}
		}
		r.Options[k] = v
	}
	if on == record.OnSim && t.Node == nil {
		return Row{}, hint.Add(fmt.Errorf("%s is a real system: it cannot be simulated", name),
			"add --on virtual if it is all Go; or recount run --target %s --on docker", name)
	}
	t = t.On(on != record.OnSim, r.Options)
	r.About, r.found = t.About, t
	for _, k := range slices.Sorted(maps.Keys(r.Options)) {
		v := r.Options[k]
		if opt := option(t, k); opt != nil && len(opt.Breaks) > 0 && v != opt.Default {
			r.About, r.Breaks = opt.About, append(r.Breaks, opt.Breaks...)
		}
	}
	if r.options, err = t.Parse(r.Options); err != nil {
		return Row{}, err
	}
	if on != record.OnSim {
		if err := harness.Check(record.Plan{Target: name, Options: r.Options, On: on}); err != nil {
			return Row{}, err
		}
	}
	if guns := r.guns(); len(guns) > 0 {
		w := r
		w.Options = maps.Clone(r.Options)
		for _, g := range guns {
			delete(w.Options, g)
		}
		if w.options, err = t.Parse(w.Options); err != nil {
			return Row{}, err
		}
		r.without = &w
	}
	return r, nil
}

func option(t *targets.Target, name string) *targets.Option {
	i := slices.IndexFunc(t.Options, func(o targets.Option) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Options[i]
}

// everyRow is every target that runs there, each followed by its foot-guns.
func everyRow(on string) (rows []Row) {
	for _, t := range targets.All() {
		if r, err := parseRow(t.Name, on); err == nil {
			rows = append(rows, r)
			rows = append(rows, gunsOf(r, on)...)
		}
	}
	return rows
}

// footGuns is every foot-gun of every target. What one target does not feel another may.
func footGuns(on string) (rows []Row) {
	return slices.DeleteFunc(everyRow(on), func(r Row) bool { return !r.FootGun() })
}

// gunsOf is every switch of a target, and every choice, that breaks what it is there to break.
func gunsOf(r Row, on string) (rows []Row) {
	for _, o := range r.found.Options {
		switch {
		case len(o.Breaks) == 0:
		case o.Kind == targets.Bool:
			rows = append(rows, must(r.Target+":"+o.Name, on))
		case o.Kind == targets.Choice:
			for _, c := range o.Choices {
				if c != o.Default {
					rows = append(rows, must(r.Target+":"+o.Name+"="+c, on))
				}
			}
		}
	}
	return rows
}

// must parses a word that is made of registered names.
func must(word, on string) Row {
	r, err := parseRow(word, on)
	if err != nil {
		panic(err)
	}
	return r
}

// time is how long a run of the row goes on where nobody says: about a dozen faults, and time to be without a leader
// for longer than the target may.
func (r *Row) time() time.Duration {
	b := r.found.Bounds(r.options)
	return min(max(60*b.Silence, 3*b.Elect, 10*time.Second), 5*time.Minute).Round(time.Second)
}

// over returns a scenario's options with the row's own in their place. A foot-gun that only the scenario has is put away:
// the row is the target without it.
func (r *Row) over(scenario map[string]string) map[string]string {
	all := maps.Clone(scenario)
	for k := range scenario {
		if o := option(r.found, k); o != nil && len(o.Breaks) > 0 {
			all[k] = o.Default
		}
	}
	if all == nil && len(r.Options) > 0 {
		all = map[string]string{}
	}
	maps.Copy(all, r.Options)
	return all
}
