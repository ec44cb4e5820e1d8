package edn

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	symbolic = map[string]float64{"Inf": math.Inf(1), "-Inf": math.Inf(-1), "NaN": math.NaN()}

	wholePattern = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*)N?$`)
	floatPattern = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]+)?M?$`)
	ratioPattern = regexp.MustCompile(`^[+-]?[0-9]+/[0-9]*[1-9][0-9]*$`) // Clojure's
)

// numberOf reads a number.
func numberOf(w string) (any, error) {
	if len(w) < 19 && '1' <= w[0] && w[0] <= '9' || len(w) == 1 { // as most are
		if n, err := strconv.ParseInt(w, 10, 64); err == nil {
			return n, nil
		}
	}
	switch {
	case wholePattern.MatchString(w):
		n, err := strconv.ParseInt(strings.TrimSuffix(w, "N"), 10, 64)
		if err != nil || strings.HasSuffix(w, "N") {
			return Number(w), nil
		}
		return n, nil
	case ratioPattern.MatchString(w):
		return Number(w), nil
	case !floatPattern.MatchString(w):
		return nil, fmt.Errorf("%s is no number", w)
	case strings.HasSuffix(w, "M"):
		return Number(w), nil
	}
	f, err := strconv.ParseFloat(w, 64)
	if err != nil {
		return Number(w), nil
	}
	return f, nil
}
