package shrink

import (
	"fmt"
	"slices"
	"strings"

	"recount/harness"
	"recount/harness/record"
	"recount/internal/count"
)

// Scenario returns the result as the text of a scenario file: what it takes to break the property, and in comments what
// happens then. origin says where it was found, in lines of its own: it may hold a command, to be copied whole.
func (r *Result) Scenario(origin string) ([]byte, error) {
	p := r.Plan
	p.Require = []string{r.Property}
	s := harness.ScenarioOf(p)
	s.About = fmt.Sprintf("%s breaks %s with %s and %s", p.Target, r.Property, count.Of(p.Nodes, "node"), Faults(p))
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nWhat happens:\n\n", fold(r.Verdict.Why))
	b.WriteString(Story(r.Run.History, r.Verdict))
	for _, words := range r.Run.LastWords {
		fmt.Fprintf(&b, "\n%s\n", fold(words))
	}
	if r.Decision != nil {
		fmt.Fprintf(&b, "\n%s\n", fold("The message "+r.Decision.String()))
	}
	fmt.Fprintf(&b, "\n%s\n", fold(r.rate()+r.order()))
	if origin != "" {
		fmt.Fprintf(&b, "%s\n", origin)
	}
	if p.On != record.OnSim {
		fmt.Fprintf(&b, "\nIt is run with --on %s.\n", p.On)
	}
	return s.Encode(b.String())
}

// rate says how often the plan shows the violation.
func (r *Result) rate() string {
	size := fmt.Sprintf("Shrunk from %s and %s in %s", count.Of(r.From.Nodes, "node"), Faults(r.From), count.Of(r.Runs, "run"))
	if r.Interrupted {
		size += ", and cut short in that, so perhaps not to the least"
	}
	if r.Failed {
		size += ", and ended by a run that could not be made, so perhaps not to the least"
	}
	return size + ". " + strings.ToUpper(r.Rate()[:1]) + r.Rate()[1:] + "."
}

// order says which order of goroutines it takes, where there is one.
func (r *Result) order() string {
	switch {
	case r.Plan.On != record.OnVirtual:
		return ""
	case r.Plan.Goroutines == "":
		return " It takes no other order of goroutines than that in which they became ready."
	}
	return fmt.Sprintf(" It takes goroutines in %s order: in that in which they became ready it did not show.", r.Plan.Goroutines)
}

// Rate is how often the plan shows the violation, as far as that was measured, in words.
func (r *Result) Rate() string {
	if r.Measured == 0 {
		return "how often it shows was not measured: shrinking was cut short"
	}
	where := "with seeds at random"
	if r.Plan.On == record.OnDocker {
		where = "on containers"
	}
	words := fmt.Sprintf("%d of %d runs %s show it", r.Hits, r.Measured, where)
	if r.Hits == 0 && r.Plan.On == record.OnSim {
		words = fmt.Sprintf("it depends on the timing of seed %d: ", r.Plan.Seed) + words
	}
	if r.Measured < r.ToMeasure {
		words += fmt.Sprintf("; %d were to be made", r.ToMeasure)
	}
	return words
}

// mostNamed is of how many kinds of faults the names are told: one line has no room for more.
const mostNamed = 8

// Faults is a schedule in a few words: "2 faults (isolate, kill)", or "178 faults of 40 kinds".
func Faults(p record.Plan) string {
	var names []string
	for _, st := range p.Schedule {
		names = append(names, st.Fault)
	}
	if len(names) == 0 {
		return "no fault"
	}
	all := count.Of(len(names), "fault")
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > mostNamed {
		return fmt.Sprintf("%s of %d kinds", all, len(names))
	}
	return fmt.Sprintf("%s (%s)", all, strings.Join(names, ", "))
}

// fold breaks a text into lines that fit a comment.
func fold(text string) string {
	var b strings.Builder
	length := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case length+1+len(word) > 116:
			b.WriteByte('\n')
			length = 0
		default:
			b.WriteByte(' ')
			length++
		}
		b.WriteString(word)
		length += len(word)
	}
	return b.String()
}
