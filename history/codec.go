package history

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// One op is one line of JSON. AppendJSON writes it by hand: a simulated minute has tens of thousands of them.

var typeNames = [...]string{Invoke: "invoke", OK: "ok", Fail: "fail", Info: "info"}

func (t Type) String() string {
	if int(t) < len(typeNames) && typeNames[t] != "" {
		return typeNames[t]
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

var roleNames = [...]string{UnknownRole: "unknown", Follower: "follower", Candidate: "candidate", Leader: "leader", Server: "server"}

func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return fmt.Sprintf("Role(%d)", uint8(r))
}

func (p Process) String() string {
	switch p {
	case Nemesis:
		return "nemesis"
	case Harness:
		return "harness"
	}
	return strconv.Itoa(int(p))
}

// AppendJSON appends op to b as one line of JSON, without the line's end.
func (op *Op) AppendJSON(b []byte) []byte {
	b = append(b, `{"index":`...)
	b = strconv.AppendInt(b, int64(op.Index), 10)
	b = append(b, `,"time":`...)
	b = strconv.AppendInt(b, int64(op.Time), 10)
	b = append(b, `,"process":`...)
	if op.Process < 0 {
		b = appendString(b, op.Process.String())
	} else {
		b = strconv.AppendInt(b, int64(op.Process), 10)
	}
	b = append(b, `,"type":"`...)
	b = append(b, op.Type.String()...)
	b = append(b, `","f":`...)
	b = appendString(b, string(op.F))
	if op.Node != "" {
		b = append(b, `,"node":`...)
		b = appendString(b, op.Node)
	}
	b = op.appendValue(b)
	if op.Error != "" {
		b = append(b, `,"error":`...)
		b = appendString(b, op.Error)
	}
	return append(b, '}')
}

// hasValue tells which kinds of op carry a value, and in which types.
func (op *Op) hasValue() bool {
	switch op.F {
	case Observe:
		return op.Type == OK
	case Announce, Granted, Write, Stall, ReadClock:
		return true
	case Read:
		return op.Type == OK
	case Get, Put, CAS, Acquire, Release:
		return op.Reg != nil
	case Txns:
		return op.Txn != nil
	case Apply:
		return op.Update != nil
	case Inject, Change, Heal:
		return op.Fault != nil
	case Begin:
		return op.Setup != nil
	}
	return false
}

func (op *Op) appendValue(b []byte) []byte {
	if !op.hasValue() {
		return b
	}
	b = append(b, `,"value":`...)
	switch op.F {
	case Observe, Announce:
		return op.View.appendJSON(b)
	case Granted:
		b = append(b, `{"term":`...)
		b = strconv.AppendUint(b, op.Vote.Term, 10)
		b = append(b, `,"for":`...)
		b = appendString(b, op.Vote.For)
		return append(b, '}')
	case Write, Read, Stall:
		b = append(b, '{')
		if op.F != Stall {
			b = append(b, `"token":`...)
			b = strconv.AppendUint(b, op.Access.Token, 10)
			b = append(b, ',')
		}
		b = append(b, `"value":`...)
		b = strconv.AppendInt(b, op.Access.Value, 10)
		return append(b, '}')
	case ReadClock:
		b = append(b, `{"wall":`...)
		b = strconv.AppendInt(b, int64(op.Reading.Wall), 10)
		b = append(b, `,"monotonic":`...)
		b = strconv.AppendInt(b, int64(op.Reading.Monotonic), 10)
		return append(b, '}')
	case Get, Put, CAS, Acquire, Release:
		return op.Reg.appendJSON(b)
	case Txns:
		return appendAny(b, op.Txn)
	case Apply:
		return appendAny(b, op.Update)
	case Begin:
		return appendAny(b, op.Setup)
	default:
		return appendAny(b, op.Fault)
	}
}

func (v *View) appendJSON(b []byte) []byte {
	b = append(b, `{"role":"`...)
	b = append(b, v.Role.String()...)
	b = append(b, `","term":`...)
	b = strconv.AppendUint(b, v.Term, 10)
	if v.Leader != "" {
		b = append(b, `,"leader":`...)
		b = appendString(b, v.Leader)
	}
	if v.Tenure != 0 {
		b = append(b, `,"tenure":`...)
		b = strconv.AppendUint(b, v.Tenure, 10)
	}
	if v.Torn {
		b = append(b, `,"torn":true`...)
	}
	return append(b, '}')
}

func (r *Register) appendJSON(b []byte) []byte {
	b = append(b, '{')
	begin := len(b)
	for _, field := range [...]struct{ name, value string }{{"key", r.Key}, {"value", r.Value}, {"old", r.Old}} {
		if field.value != "" {
			b = appendString(append(appendString(b, field.name), ':'), field.value)
			b = append(b, ',')
		}
	}
	if r.Revision != 0 {
		b = strconv.AppendUint(append(b, `"revision":`...), r.Revision, 10)
		b = append(b, ',')
	}
	if len(b) > begin {
		b = b[:len(b)-1]
	}
	return append(b, '}')
}

func appendString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return appendAny(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendAny is for the rare ops, and the strings that need quoting.
func appendAny(b []byte, v any) []byte {
	j, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("history: encode %T: %v", v, err)) // only types that always encode come here
	}
	return append(b, j...)
}
