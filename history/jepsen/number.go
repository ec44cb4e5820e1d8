package jepsen

import (
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"recount/history"
	"recount/history/edn"
)

// whole is a number without a fraction, however it is written: 5, 5N, 5.0, 5M.
func whole(v any) (n int64, ok bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<63
	case edn.Number:
		text, _ := edn.Canonical(v)
		n, err := strconv.ParseInt(strings.TrimSuffix(text, "M"), 10, 64)
		return n, err == nil
	}
	return 0, false
}

// tooLarge writes a whole number that there is no room for, and says what it is larger or less than; "" of all others.
func tooLarge(v any) (number, than string) {
	n, _ := v.(edn.Number)
	whole, ok := new(big.Int).SetString(strings.TrimRight(string(n), "NM"), 10)
	if !ok || whole.IsInt64() {
		return "", ""
	}
	return history.Brief(string(n)), history.Beyond(whole.String(), reflect.TypeFor[int64]())
}

// processOf tells who an op is of: a client, which has a number, or the nemesis. Whoever else acts is not understood, and
// is not to be passed over.
func processOf(v any) (p history.Process, problem string) {
	n, ok := whole(v)
	switch {
	case v == edn.Keyword("nemesis"):
		return history.Nemesis, ""
	case !ok:
		return 0, "process " + short(v) + ": want a number, or :nemesis"
	case n < 0 || n > math.MaxInt32:
		return 0, "process " + short(v) + ": want 0 to " + strconv.Itoa(math.MaxInt32)
	}
	return history.Process(n), ""
}

// typeOf reads the type of an op, 0 if it is none.
func typeOf(v any) history.Type {
	word, _ := v.(edn.Keyword)
	return types[word]
}

var types = map[edn.Keyword]history.Type{"invoke": history.Invoke, "ok": history.OK, "fail": history.Fail, "info": history.Info}
