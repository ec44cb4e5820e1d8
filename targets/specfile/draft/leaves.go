package draft

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"recount/targets/specfile"
)

// form is how an answer is written.
type form uint8

const (
	inJSON form = iota
	inMetrics
	inText
)

// leaf is a single value in an answer: where it stands, as a spec file would say, and the names on the way there.
type leaf struct {
	field string   // a path into JSON, a metric, or a group of the pattern that is to be made
	names []string // of the objects that it is in, and its own
	value string
	flag  bool   // it says yes or no
	line  string // of a text: a pattern of what stands before it
}

// own is the name of the leaf alone.
func (l leaf) own() string { return l.names[len(l.names)-1] }

// within is the name of the object that it is in, "" for none.
func (l leaf) within() string {
	if len(l.names) < 2 {
		return ""
	}
	return l.names[len(l.names)-2]
}

// mostLeaves is how many are looked at: statuses have a few, pages of metrics a few thousand.
const mostLeaves = 10_000

// leavesOf takes an answer apart. What stands in a list is of one node among others, and is left out.
func leavesOf(answer []byte) (as form, all []leaf, err error) {
	text := string(answer)
	root, err := specfile.ParseJSON(answer)
	switch root := root.(type) {
	case map[string]any, []any:
		if err != nil {
			break
		}
		inObject(root, leaf{}, func(l leaf) { all = append(all, l) })
		return inJSON, legible(all), nil
	case string: // alone, as a name of who leads
		if err == nil {
			return inText, []leaf{{field: "leader", names: []string{"leader"}, value: root, line: `^"`}}, nil
		}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return inJSON, nil, err
	}
	if samples, err := specfile.ParseSamples(text); err == nil && len(samples) > 0 && !slices.ContainsFunc(samples, isOdd) {
		all, as = inSamples(samples), inMetrics
	} else {
		all, as = inLines(text), inText
	}
	return as, legible(all), nil
}

// legible are those leaves that can be a role, a number or a name, and can be written into a file, of as many as are looked at.
func legible(all []leaf) []leaf {
	all = slices.DeleteFunc(all, func(l leaf) bool {
		return len(l.names) == 0 || len(l.field) > specfile.LongestWord || len(l.value) > specfile.LongestWord || !printable(l.field+l.value+l.line)
	})
	return all[:min(len(all), mostLeaves)]
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// isOdd reports whether a line is none of metrics after all: their values are numbers.
func isOdd(s specfile.Sample) bool {
	_, err := strconv.ParseFloat(s.Value, 64)
	return s.Err != nil || err != nil
}

// plainStep is a step of a path that needs no brackets.
var plainStep = regexp.MustCompile(`^[A-Za-z0-9_@/-]+$`)

// inObject keeps the leaves of a value of JSON that stands where at says.
func inObject(v any, at leaf, keep func(leaf)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if field := fieldOf(at.field, key); field != "" {
				inObject(v[key], leaf{field: field, names: append(slices.Clip(at.names), key)}, keep)
			}
		}
	case nil:
		keep(at)
	case bool:
		at.value, at.flag = strconv.FormatBool(v), true
		keep(at)
	case string:
		at.value = v
		keep(at)
	case json.Number:
		at.value = specfile.Whole(v.String())
		keep(at)
	}
}

// fieldOf is the path to what an object has under a name; "" if none says it.
func fieldOf(object, key string) string {
	switch {
	case strings.ContainsAny(key, "\"\n"):
		return ""
	case !plainStep.MatchString(key):
		return object + `["` + key + `"]`
	case object == "":
		return key
	}
	return object + "." + key
}

// inLists keeps the leaves of the first of each list of objects in a value of JSON, which no guess is made of.
func inLists(v any, at string, keep func(leaf)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if field := fieldOf(at, key); field != "" {
				inLists(v[key], field, keep)
			}
		}
	case []any:
		if len(v) > 0 && at != "" {
			if first, is := v[0].(map[string]any); is {
				inObject(first, leaf{field: at + "[0]"}, keep)
			}
		}
	}
}

// inSamples are the leaves of metrics: the values of those that have no other of their name, and of the others by their labels; and
// the labels of what alone of its name is not 0, which then name somebody.
func inSamples(samples []specfile.Sample) (all []leaf) {
	count, notZero := map[string]int{}, map[string]int{}
	for _, s := range samples {
		if count[s.Name]++; specfile.Whole(s.Value) != "0" {
			notZero[s.Name]++
		}
	}
	for _, s := range samples {
		m, names, value := specfile.Metric{Name: s.Name}, []string{s.Name}, specfile.Whole(s.Value)
		labels := slices.Sorted(maps.Keys(s.Labels))
		if value != "0" && notZero[s.Name] == 1 {
			for _, label := range labels {
				all = append(all, leaf{field: m.String() + "#" + label, names: []string{s.Name, label}, value: s.Labels[label]})
			}
		}
		if count[s.Name] > 1 {
			m.Labels = s.Labels
			for _, label := range labels { // whose values tell it from its like
				names = append(names, s.Labels[label])
			}
		}
		all = append(all, leaf{field: m.String(), names: names, value: value, flag: isBit(value)})
	}
	return all
}

// pairRule is a name and a value in a line of text.
var pairRule = regexp.MustCompile(`(?m)(?:^|[\s,;])([A-Za-z][A-Za-z0-9_.-]*)( ?[:=] ?)("?)([^\s",;]+)`)

// inLines are the leaves of a text: NAME: VALUE and NAME=VALUE.
func inLines(text string) (all []leaf) {
	told := map[string]bool{}
	for _, m := range pairRule.FindAllStringSubmatch(text, -1) {
		if told[m[1]] {
			continue
		}
		told[m[1]] = true
		all = append(all, leaf{field: m[1], names: []string{m[1]}, value: m[4], line: regexp.QuoteMeta(m[1] + m[2] + m[3])})
	}
	return all
}
