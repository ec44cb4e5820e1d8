package jepsen

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"recount/history"
	"recount/history/edn"
)

// Recount's own histories, as Jepsen's tools take them: a vector of ops. What clients do to a register is called as in
// Jepsen's tests, with numbers for values that are numbers, so that Knossos can judge it. Ops that Jepsen could not pair,
// those of the nemesis, the harness, and what nodes tell by themselves, are :info, and what they were is kept beside:
// reading gives the very same history again.

// Keys of an op that only Recount has.
const (
	keyType    = edn.Keyword("recount/type")
	keyProcess = edn.Keyword("recount/process")
	keyValue   = edn.Keyword("recount/value")
	keyOwn     = edn.Keyword("recount/history") // of the first op, where it is not the beginning that tells whose history it is
)

// Write writes a history for Jepsen's tools.
func Write(w io.Writer, h *history.History) error {
	b := bufio.NewWriterSize(w, 64<<10)
	b.WriteString("[")
	for i := range h.Ops {
		if i > 0 {
			b.WriteString("\n ")
		}
		m, err := mapOf(&h.Ops[i])
		if err != nil {
			return fmt.Errorf("op %d: %w", h.Ops[i].Index, err)
		}
		if i == 0 && !isOwn(m) {
			m = append(m, edn.Pair{Key: keyOwn, Value: true})
		}
		if _, err := b.Write(edn.Append(nil, m)); err != nil {
			return err
		}
	}
	b.WriteString("]\n")
	return b.Flush()
}

// jepsens are the names that Jepsen's tests have for what clients do.
var jepsens = map[history.F]edn.Keyword{
	history.Get: "read", history.Put: "write", history.Read: "fenced-read", history.Write: "fenced-write",
}

func mapOf(op *history.Op) (m edn.Map, err error) {
	add := func(key edn.Keyword, v any) { m = append(m, edn.Pair{Key: key, Value: v}) }
	add("index", int64(op.Index))
	add("time", int64(op.Time))
	alone := op.Process < 0 || op.Alone()
	switch {
	case op.Process < 0:
		add("process", edn.Keyword(op.Process.String()))
	case alone:
		add("process", edn.Keyword("node"))
		add(keyProcess, int64(op.Process))
	default:
		add("process", int64(op.Process))
	}
	kind := edn.Keyword(op.Type.String())
	if alone {
		add("type", edn.Keyword("info"))
		add(keyType, kind)
	} else {
		add("type", kind)
	}
	if f, ok := jepsens[op.F]; ok {
		add("f", f)
	} else {
		add("f", edn.Keyword(op.F))
	}
	value, whole, err := valueOf(op)
	if err != nil {
		return nil, err
	}
	add("value", value)
	if !whole {
		own, err := ownValue(op)
		if err != nil {
			return nil, err
		}
		add(keyValue, own)
	}
	if op.Node != "" {
		add("node", op.Node)
	}
	if op.Error != "" {
		add("error", op.Error)
	}
	return m, nil
}

// valueOf is a value as Jepsen's tests have it, and whether all of the value is in it.
func valueOf(op *history.Op) (v any, whole bool, err error) {
	switch op.F {
	case history.Get, history.Put, history.CAS:
		if op.Reg == nil {
			return nil, true, nil
		}
		if v = scalar(op.Reg.Value); op.F == history.CAS {
			v = edn.Vector{scalar(op.Reg.Old), v}
		}
		if op.Reg.Key != "" {
			v = edn.Vector{scalar(op.Reg.Key), v}
		}
		return v, false, nil
	case history.Txns:
		if op.Txn() == nil {
			return nil, true, nil
		}
		uses := edn.Vector{}
		for _, u := range op.Txn().Uses {
			uses = append(uses, edn.Vector{jepsens[u.F], scalar(u.Key), scalar(u.Value)})
		}
		return uses, false, nil
	case history.Read, history.Write:
		if op.Access != (history.Access{}) {
			v = edn.Vector{int64(op.Access.Token), op.Access.Value}
		}
		return v, false, nil
	}
	v, err = ownValue(op)
	return v, true, err
}

// scalar is the form that a text is the notation of, or else the text.
func scalar(text string) any {
	if text == "" {
		return nil
	}
	r := edn.NewReader(strings.NewReader(text))
	v, err := r.Next()
	if _, end := r.Next(); err == nil && errors.Is(end, io.EOF) && edn.Text(v) == text {
		return v
	}
	return text
}

// ownValue is an op's value as Recount writes it.
func ownValue(op *history.Op) (any, error) {
	var line struct {
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(op.AppendJSON(nil), &line); err != nil || len(line.Value) == 0 {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(line.Value))
	d.UseNumber()
	return fromJSON(d)
}

// fromJSON makes the next value of JSON one of EDN; names become keywords, in the same order.
func fromJSON(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return n, nil
		}
		if _, err := strconv.ParseUint(string(t), 10, 64); err == nil {
			return edn.Number(t), nil
		}
		return t.Float64()
	case json.Delim:
		items := edn.Vector{}
		m := edn.Map{}
		for d.More() {
			v, err := fromJSON(d)
			if err != nil {
				return nil, err
			}
			if t == '[' {
				items = append(items, v)
				continue
			}
			of, err := fromJSON(d)
			if err != nil {
				return nil, err
			}
			key, _ := v.(string)
			m = append(m, edn.Pair{Key: keyOf(key), Value: of})
		}
		if _, err := d.Token(); err != nil {
			return nil, err
		}
		if t == '[' {
			return items, nil
		}
		return m, nil
	}
	return t, nil // a string, a truth value or null
}

// keyOf is a name as a keyword, where it can be one.
func keyOf(name string) any {
	r := edn.NewReader(strings.NewReader(":" + name))
	if v, err := r.Next(); err == nil && v == edn.Keyword(name) {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			return v
		}
	}
	return name
}

// isOwn reports whether a history that begins with this op is one of Recount's.
func isOwn(m edn.Map) bool {
	f, _ := m.Get(edn.Keyword("f"))
	process, _ := m.Get(edn.Keyword("process"))
	_, told := m.Get(keyOwn)
	return told || f == edn.Keyword(history.Begin) && process == edn.Keyword(history.Harness.String())
}

// addOwn adds an op that Write wrote.
func (b *builder) addOwn(line, column int, m edn.Map) error {
	if err := b.room(line, column); err != nil {
		return err
	}
	if len(b.ops) == 1 && b.ops[0].Setup == b.setup {
		b.ops = b.ops[:0] // it has its own beginning
	}
	get := func(key edn.Keyword) any {
		v, _ := m.Get(key)
		return v
	}
	op := map[string]any{"index": get("index"), "time": get("time"), "process": get("process"), "type": get("type"), "f": get("f")}
	value := get("value")
	for f, name := range jepsens {
		if op["f"] == name {
			op["f"], value = string(f), get(keyValue)
		}
	}
	if op["f"] == edn.Keyword(history.CAS) || op["f"] == edn.Keyword(history.Txns) {
		value = get(keyValue)
	}
	if own := get(keyType); own != nil {
		op["type"] = own
	}
	if own := get(keyProcess); own != nil {
		op["process"] = own
	}
	for key, v := range map[string]any{"value": value, "node": get("node"), "error": get("error")} {
		if v != nil {
			op[key] = v
		}
	}
	text, err := json.Marshal(jsonOf(op))
	var read history.Op
	if err == nil {
		err = read.UnmarshalJSON(text)
	}
	if err != nil {
		return problem(line, column, "no op of Recount's: %v", err)
	}
	b.ops = append(b.ops, read)
	return nil
}

// jsonOf makes a value of EDN one that encoding/json writes.
func jsonOf(v any) any {
	switch v := v.(type) {
	case edn.Keyword:
		return string(v)
	case edn.Number:
		return json.Number(v)
	case edn.Vector:
		all := make([]any, len(v))
		for i := range v {
			all[i] = jsonOf(v[i])
		}
		return all
	case edn.Map:
		m := map[string]any{}
		for _, p := range v {
			m[plain(p.Key)] = jsonOf(p.Value)
		}
		return m
	case map[string]any:
		for k := range v {
			v[k] = jsonOf(v[k])
		}
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	}
	return v
}
