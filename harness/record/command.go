package record

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Command is the command line that makes the run of a plan whose scenario, if it has one, is known by name. A schedule
// that is no scenario's cannot be written on a command line.
func (p Plan) Command() string {
	words := []string{"recount", "run"}
	add := func(flag, value string) { words = append(words, "--"+flag, Quote(value)) }
	if p.Scenario != "" {
		words = append(words, Quote(p.Scenario))
	}
	add("target", p.Target)
	for _, name := range slices.Sorted(maps.Keys(p.Options)) {
		add("opt", name+"="+p.Options[name])
	}
	if p.On != OnSim && p.On != "" {
		add("on", p.On)
	}
	if p.Goroutines != "" {
		add("goroutines", p.Goroutines)
	}
	if p.Scenario == "" {
		if p.Nodes > 0 {
			add("nodes", strconv.Itoa(p.Nodes))
		}
		if len(p.Faults) > 0 {
			add("nemesis", strings.Join(p.Faults, ","))
		}
		if len(p.Workloads) > 0 {
			add("workload", strings.Join(p.Workloads, ","))
		}
		if p.Time > 0 {
			add("time", p.Time.String())
		}
	}
	add("seed", strconv.FormatUint(p.Seed, 10))
	return strings.Join(words, " ")
}

// Quote makes s one word of a shell.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./,:+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
