package shrink

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"recount/harness/record"
	"recount/nemesis"
)

// Signature is the same for findings that are the same as far as one can tell: of the target, with the options that it takes,
// the property, and the faults in their order, aimed at roles, with their times in silences of the target, roughly:
//
//	raft: sticky-leader: isolate follower for 1 to 4 silences; whole
//
// "whole" says that the cluster was in good health again when the property broke.
func (r *Result) Signature() string {
	silence := time.Duration(0)
	if s := r.Run.Setup(); s != nil {
		silence = s.Bounds.Silence
	}
	words := []string{subject(r.Plan) + ": " + r.Property + ": " + steps(r.Plan.Schedule, silence)}
	if _, whole := Circumstances(r.Run.Frame(), r.Verdict); whole {
		words = append(words, "whole")
	}
	return strings.Join(words, "; ")
}

// subject is what is tested, as a signature calls it.
func subject(p record.Plan) string {
	words := []string{p.Target}
	for _, name := range slices.Sorted(maps.Keys(p.Options)) {
		words = append(words, name+"="+p.Options[name])
	}
	return strings.Join(words, " ")
}

// steps is a schedule with rough times.
func steps(s nemesis.Schedule, silence time.Duration) string {
	if len(s) == 0 {
		return "no fault"
	}
	s = slices.Clone(s)
	slices.SortStableFunc(s, func(a, b nemesis.Step) int { return cmp.Compare(a.At, b.At) })
	var all []string
	for i, st := range s {
		words := []string{st.Fault}
		if len(st.Nodes) > 0 {
			words = append(words, roles(st.Nodes))
		}
		words = append(words, events(st)...)
		if st.After != "" {
			words = append(words, "after "+string(st.After))
		} else if i > 0 {
			if gap := st.At - s[i-1].At; gap > 0 {
				words = append(words, roughly(gap, silence)+" later")
			} else {
				words = append(words, "at once")
			}
		}
		if hold := cmp.Or(time.Duration(st.ForTimes*float64(silence)), st.For); hold > 0 {
			words = append(words, "for "+roughly(hold, silence))
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, ", then ")
}

// events are the options of a step that say which events it waits for. How many of them is no more than a time.
func events(st nemesis.Step) (words []string) {
	if f, err := nemesis.Find(st.Fault); err != nil || !f.Events {
		return nil
	}
	for _, name := range []string{"kind", "on", "until"} {
		if what := st.With[name]; what != "" {
			words = append(words, name+"="+what)
		}
	}
	return words
}

// roles are the words of a step; a node that is named is any. A part of a node stays that part.
func roles(words []string) string {
	all := slices.Clone(words)
	for i, w := range all {
		node, part, ofPart := strings.Cut(w, "/")
		if !slices.ContainsFunc(nemesis.Words(), func(known [2]string) bool { return known[0] == node }) {
			all[i] = "one"
			if ofPart {
				all[i] += "/" + part
			}
		}
	}
	return strings.Join(all, ",")
}

// roughly is a time in silences. What a shrinking comes to varies within the steps of its round times, and so it takes as
// wide ones here to tell the same findings to be the same.
func roughly(d, silence time.Duration) string {
	if silence <= 0 {
		return fmt.Sprint(d)
	}
	switch times := float64(d) / float64(silence); {
	case times < 1:
		return "under 1 silence"
	case times <= 4:
		return "1 to 4 silences"
	case times <= 16:
		return "4 to 16 silences"
	}
	return "over 16 silences"
}
