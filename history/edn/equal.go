package edn

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Canonical writes a value so that two of them have the same text if, and only if, Clojure's = holds between them
// (https://clojure.org/guides/equality): 5 and 5N, 1.0M and 1.00M, [1 2] and (1 2), maps and sets whatever their order;
// but not 1 and 1.0, which are of different kinds. It reports false for what has a ##NaN in it: that is equal to nothing,
// not even to itself.
func Canonical(v any) (text string, ok bool) {
	var b []byte
	switch v := v.(type) {
	case int64, Keyword, string, nil: // as most are
		b = Append(b, v)
	default:
		b, ok = appendCanonical(b, v)
		return string(b), ok
	}
	return string(b), true
}

func appendCanonical(b []byte, v any) (_ []byte, ok bool) {
	switch v := v.(type) {
	case float64:
		if v == 0 {
			v = 0 // not -0.0
		}
		return appendFloat(b, v), !math.IsNaN(v)
	case Number:
		return appendNumber(b, v), true
	case Vector:
		return appendSequence(b, v)
	case List:
		return appendSequence(b, v)
	case Set:
		all, ok := canonicals(v)
		slices.Sort(all)
		return append(append(append(b, "#{"...), strings.Join(all, " ")...), '}'), ok
	case Map:
		all := make([]string, len(v))
		ok = true
		for i, p := range v {
			key, fine1 := Canonical(p.Key)
			value, fine2 := Canonical(p.Value)
			all[i], ok = key+" "+value, ok && fine1 && fine2
		}
		slices.Sort(all)
		return append(append(append(b, '{'), strings.Join(all, ", ")...), '}'), ok
	case Tagged:
		value, ok := Canonical(meaning(v))
		return append(fmt.Appendf(b, "#%s ", v.Tag), value...), ok
	}
	return Append(b, v), true
}

func appendSequence(b []byte, items []any) (_ []byte, ok bool) {
	all, ok := canonicals(items)
	return append(append(append(b, '['), strings.Join(all, " ")...), ']'), ok
}

func canonicals(items []any) (all []string, ok bool) {
	all, ok = make([]string, len(items)), true
	for i, v := range items {
		var fine bool
		all[i], fine = Canonical(v)
		ok = ok && fine
	}
	return all, ok
}

// appendNumber writes what int64 and float64 do not hold. A decimal number is written out unless it is a long one.
func appendNumber(b []byte, n Number) []byte {
	w := string(n)
	if !strings.HasSuffix(w, "M") {
		return append(b, strings.TrimSuffix(w, "N")...)
	}
	digits, power, err := decimal(w)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	switch {
	case err != nil: // which the reader does not let pass
		return append(b, w...)
	case power < 0 && power > -20:
		for int64(len(digits)) <= -power {
			digits = "0" + digits
		}
		at := len(digits) + int(power)
		return append(b, sign+digits[:at]+"."+digits[at:]+"M"...)
	case power >= 0 && power < 20:
		return append(b, sign+digits+strings.Repeat("0", int(power))+"M"...)
	}
	return fmt.Appendf(b, "%s%sE%dM", sign, digits, power)
}

// instants are written to any precision, from the year on, and with an offset: what is not said is as early as can be.
var instants = regexp.MustCompile(`^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?)?)?)?(?:Z|([-+]\d\d:\d\d))?$`)

// meaning is what a tag stands for, where all of Clojure's readers know it: instants count by their milliseconds, as
// java.util.Date does, and UUIDs are the same in capitals.
func meaning(t Tagged) any {
	text, ok := t.Value.(string)
	switch {
	case ok && t.Tag == "uuid":
		return strings.ToLower(text)
	case !ok || t.Tag != "inst":
		return t.Value
	}
	p := instants.FindStringSubmatch(text)
	if p == nil {
		return text
	}
	for i, least := range []string{"", "0000", "01", "01", "00", "00", "00", "0", "+00:00"} {
		if p[i] == "" {
			p[i] = least
		}
	}
	at, err := time.Parse(time.RFC3339Nano, fmt.Sprintf("%s-%s-%sT%s:%s:%s.%s%s", p[1], p[2], p[3], p[4], p[5], p[6], p[7][:min(len(p[7]), 9)], p[8]))
	if err != nil {
		return text
	}
	return at.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000-00:00")
}
