package edn

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Numbers as Clojure's reader takes them: 0x1f, 017 and 2r101 are whole ones, 4/2 is 2, and 1e400 is infinite.

var (
	symbolic = map[string]float64{"Inf": math.Inf(1), "-Inf": math.Inf(-1), "NaN": math.NaN()}

	wholePattern = regexp.MustCompile(`^([-+]?)(?:(0|[1-9][0-9]*)|0[xX]([0-9A-Fa-f]+)|0([0-7]+)|([1-9][0-9]?)[rR]([0-9A-Za-z]+))(N?)$`)
	octalPattern = regexp.MustCompile(`^[-+]?0[0-9]+N?$`) // but for a digit that is none: 08
	floatPattern = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?M?$`)
	ratioPattern = regexp.MustCompile(`^([-+]?[0-9]+)/([0-9]+)$`)
)

// numberOf reads a number.
func numberOf(w string) (any, error) {
	if len(w) < 19 && '1' <= w[0] && w[0] <= '9' || len(w) == 1 { // as most are
		if n, err := strconv.ParseInt(w, 10, 64); err == nil {
			return n, nil
		}
	}
	if p := wholePattern.FindStringSubmatch(w); p != nil {
		return wholeOf(w, p)
	}
	if p := ratioPattern.FindStringSubmatch(w); p != nil {
		return ratioOf(w, p)
	}
	switch {
	case octalPattern.MatchString(w), !floatPattern.MatchString(w):
		return nil, fmt.Errorf("%s is no number", w)
	case strings.HasSuffix(w, "M"):
		if _, _, err := decimal(w); err != nil {
			return nil, err
		}
		return Number(w), nil
	}
	f, _ := strconv.ParseFloat(w, 64) // what is too large is infinite
	return f, nil
}

func wholeOf(w string, p []string) (any, error) {
	sign, digits, base := p[1], p[2], 10
	switch {
	case p[3] != "":
		digits, base = p[3], 16
	case p[4] != "":
		digits, base = p[4], 8
	case p[6] != "":
		digits = p[6]
		base, _ = strconv.Atoi(p[5])
	}
	if base < 2 || base > 36 {
		return nil, fmt.Errorf("%s is no number: want a base of 2 to 36", w)
	}
	n, ok := new(big.Int).SetString(sign+digits, base)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s is no number", w)
	case p[7] != "":
		return Number(n.String() + "N"), nil
	case !n.IsInt64():
		return Number(n.String()), nil
	}
	return n.Int64(), nil
}

func ratioOf(w string, p []string) (any, error) {
	over, _ := new(big.Int).SetString(p[1], 10)
	under, _ := new(big.Int).SetString(p[2], 10)
	if under.Sign() == 0 {
		return nil, fmt.Errorf("%s is no number: it divides by zero", w)
	}
	r := new(big.Rat).SetFrac(over, under)
	switch {
	case !r.IsInt():
		return Number(r.String()), nil
	case r.Num().IsInt64():
		return r.Num().Int64(), nil
	}
	return Number(r.Num().String()), nil
}

// decimal takes a decimal number with its M apart: digits without zeros at their end, times a power of ten.
func decimal(w string) (digits string, power int64, err error) {
	text, exponent, _ := strings.Cut(strings.ToLower(strings.TrimSuffix(w, "M")), "e")
	whole, fraction, _ := strings.Cut(text, ".")
	if exponent != "" {
		if power, err = strconv.ParseInt(exponent, 10, 32); err != nil {
			return "", 0, fmt.Errorf("%s is no number: its exponent is too large", w)
		}
	}
	sign := ""
	if whole[0] == '-' {
		sign = "-"
	}
	digits = strings.TrimLeft(strings.TrimLeft(whole, "+-")+fraction, "0")
	power -= int64(len(fraction))
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0", 0, nil
	}
	return sign + short, power + int64(len(digits)-len(short)), nil
}
