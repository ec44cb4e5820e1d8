package history

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"recount/internal/hint"
)

// Lines that AppendJSON did not write are read here, field by field, so that what is wrong with one can be pointed at.

// UnmarshalJSON reads what AppendJSON writes, in any order and spacing.
func (op *Op) UnmarshalJSON(b []byte) error {
	*op = Op{}
	if column, err := op.decode(b); err != nil {
		return fmt.Errorf("column %d: %w", column, err)
	}
	return nil
}

var errMiddle = errors.New("the op ends in its middle: want }")

// The errors of JSON that is not in lines.
var (
	errArray = hint.Add(errors.New("no op: a JSON array, and a history has one JSON object a line (JSON Lines)"),
		"jq -c '.[]' FILE makes lines of an array of ops")
	errApart = hint.Add(errMiddle,
		"a history has one JSON object a line (JSON Lines): jq -c . FILE puts each on one, and jq -c '.[]' FILE those of an array")
)

// decode reads one op into one that is zero but for the index, which is as it was where none is told. What is wrong is at the column
// returned, which counts bytes from 1.
func (op *Op) decode(b []byte) (column int, err error) {
	var whole json.RawMessage
	if bytes.HasPrefix(b, []byte("[")) {
		return 1, errArray
	}
	if s, bad := errors.AsType[*json.SyntaxError](json.Unmarshal(b, &whole)); bad {
		if s.Error() == "unexpected end of JSON input" {
			if op.Index == 0 || string(b) == "{" {
				return len(b) + 1, errApart
			}
			return len(b) + 1, errMiddle // those before are in lines: it is damaged
		}
		return int(s.Offset), s
	}
	if key, column := twice(b); column > 0 {
		return column, fmt.Errorf("%q for the second time: which of the two counts?", key)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return 1, fmt.Errorf("no op: want an object like %s", `{"index":0,"time":0,"process":0,"type":"invoke","f":"observe"}`)
	}
	var value json.RawMessage
	var at, atF int // columns of the value and of f
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return int(d.InputOffset()) + 1, err
		}
		column := begins(b, d.InputOffset())
		field, known := map[string]any{
			"index": &op.Index, "time": &op.Time, "process": &op.Process, "type": &op.Type, "f": &op.F, "node": &op.Node,
			"value": &value, "error": &op.Error,
		}[fmt.Sprint(key)]
		switch key {
		case "value":
			at = column
		case "f":
			atF = column
		}
		if bytes.HasPrefix(b[column-1:], []byte("null")) {
			return column, fmt.Errorf("%s is null: leave it out, or say what it is", key)
		}
		if !known {
			return int(d.InputOffset()), fmt.Errorf("unknown field %q: want index, time, process, type, f, node, value or error", key)
		}
		if err := d.Decode(field); err != nil {
			return column, fmt.Errorf("%s: %w", key, Plain(err))
		}
		if at := garbled(b[column-1 : d.InputOffset()]); at >= 0 && key != "error" {
			return column + at, fmt.Errorf("%s is no text in UTF-8: what it was nobody knows, nor what is the same", key)
		}
	}
	if err := op.check(value); err != nil {
		return max(atF, 1), err
	}
	if len(value) > 0 {
		if err := strict(value, kindOf(op.F).value.into(op)); err != nil {
			return at, fmt.Errorf("value of %s: %w", op.F, Plain(err))
		}
	}
	return 0, nil
}

// begins returns the column at which the value begins that follows a key.
func begins(b []byte, after int64) int {
	rest := bytes.TrimLeft(b[after:], " \t\r\n:")
	return len(b) - len(rest) + 1
}

// check finds what is wrong with an op before its value is read.
func (op *Op) check(value json.RawMessage) error {
	if op.Type == 0 {
		return errors.New("the op has no type: want invoke, ok, fail or info")
	}
	k := kindOf(op.F)
	switch given, need := len(value) > 0, k.need(op.Type); {
	case op.F == "":
		return errors.New("the op has no f")
	case !k.known():
		return fmt.Errorf("unknown f %q", op.F)
	case given && need == never:
		return fmt.Errorf("%v %s carries no value", op.Type, op.F)
	case !given && need == must:
		return fmt.Errorf("%v %s lacks its value", op.Type, op.F)
	}
	return nil
}

// strict decodes JSON and refuses fields it does not know: a typing mistake in a history must not go unseen.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if key := misspelled(b, v); key != "" {
		return fmt.Errorf("unknown field %q: fields are written in small letters", key)
	}
	return nil
}

// Plain says of JSON of a wrong kind what it is and what it should be, to somebody who does not know the types behind it.
func Plain(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	if wrong.Field == "" {
		return fmt.Errorf("%s: want %s", kindOfJSON(wrong.Value, wrong.Type), kindOfType(wrong.Type))
	}
	names := strings.Split(wrong.Field, ".") // Go's names, where JSON has them without a capital
	for i, n := range names {
		names[i] = strings.ToLower(n[:min(1, len(n))]) + n[min(1, len(n)):]
	}
	return fmt.Errorf("%s is %s: want %s", strings.Join(names, "."), kindOfJSON(wrong.Value, wrong.Type), kindOfType(wrong.Type))
}

// kindOfType puts into words what a value of that type is read from.
func kindOfType(t reflect.Type) string {
	if text := reflect.TypeFor[encoding.TextUnmarshaler](); t.Implements(text) || reflect.PointerTo(t).Implements(text) {
		return "text"
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		if t == reflect.TypeFor[time.Duration]() {
			return "a whole number of nanoseconds"
		}
		return "a whole number"
	case reflect.Uint16, reflect.Uint64:
		return "a whole number from 0"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// kindOfJSON puts into words what encoding/json calls a value that is none of a type.
func kindOfJSON(value string, t reflect.Type) string {
	switch value {
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "number":
		return "a number"
	}
	// It tells a number that does not fit.
	number := strings.TrimPrefix(value, "number ")
	if than := Beyond(number, t); than != "" {
		return Brief(number) + ", " + than
	}
	return Brief(number)
}

// Brief is a number as far as it is worth quoting.
func Brief(number string) string {
	if len(number) > 24 {
		return number[:20] + "…"
	}
	return number
}

// Beyond says of a whole number what it is larger or less than, for a type to have room for it: "larger than 2^63-1"; "" of all others.
func Beyond(number string, t reflect.Type) string {
	signed := t.Kind() == reflect.Int || t.Kind() == reflect.Int64
	unsigned := t.Kind() == reflect.Uint16 || t.Kind() == reflect.Uint64
	digits, negative := strings.CutPrefix(number, "-")
	switch whole := strings.Trim(digits, "0123456789") == ""; {
	case whole && signed && negative:
		return fmt.Sprintf("less than -2^%d", t.Bits()-1)
	case whole && signed:
		return fmt.Sprintf("larger than 2^%d-1", t.Bits()-1)
	case whole && unsigned && !negative:
		return fmt.Sprintf("larger than 2^%d-1", t.Bits())
	}
	return ""
}

// UnmarshalText reads a type's name.
func (t *Type) UnmarshalText(b []byte) error {
	for i, n := range typeNames {
		if n == string(b) && n != "" {
			*t = Type(i)
			return nil
		}
	}
	return fmt.Errorf("unknown type %q: want invoke, ok, fail or info", b)
}

// UnmarshalText reads a role's name.
func (r *Role) UnmarshalText(b []byte) error {
	for i, n := range roleNames {
		if n == string(b) {
			*r = Role(i)
			return nil
		}
	}
	return fmt.Errorf("unknown role %q: want follower, candidate, leader, server or unknown", b)
}

// UnmarshalJSON reads a number, or the name of a process that has one.
func (p *Process) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"nemesis"`:
		*p = Nemesis
	case `"harness"`:
		*p = Harness
	default:
		n, err := strconv.ParseInt(string(b), 10, 32)
		if errors.Is(err, strconv.ErrRange) && n > 0 {
			return fmt.Errorf(`unknown process %s, larger than 2^31-1: want a number, "nemesis" or "harness"`, Brief(string(b)))
		}
		if err != nil || n < 0 {
			return fmt.Errorf(`unknown process %s: want a number, "nemesis" or "harness"`, Brief(string(b)))
		}
		*p = Process(n)
	}
	return nil
}
