package history

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// One op is one line of JSON. AppendJSON writes it by hand: a simulated minute has tens of thousands of them.

var typeNames = [...]string{Invoke: "invoke", OK: "ok", Fail: "fail", Info: "info"}

func (t Type) String() string {
	if int(t) < len(typeNames) && typeNames[t] != "" {
		return typeNames[t]
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

var roleNames = [...]string{UnknownRole: "unknown", Follower: "follower", Candidate: "candidate", Leader: "leader"}

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

// line is the shape of an op in JSON, for reading.
type line struct {
	Index   int             `json:"index"`
	Time    time.Duration   `json:"time"`
	Process Process         `json:"process"`
	Type    Type            `json:"type"`
	F       F               `json:"f"`
	Node    string          `json:"node"`
	Value   json.RawMessage `json:"value"`
	Error   string          `json:"error"`
}

// UnmarshalJSON reads what AppendJSON writes.
func (op *Op) UnmarshalJSON(b []byte) error {
	var l line
	if err := strict(b, &l); err != nil {
		return err
	}
	*op = Op{Index: l.Index, Time: l.Time, Process: l.Process, Type: l.Type, F: l.F, Node: l.Node, Error: l.Error}
	switch op.F {
	case Inject, Change, Heal:
		op.Fault = new(Fault)
	case Begin:
		op.Setup = new(Setup)
	case Settle, End, Stall, Exit, Observe, Announce, Granted, Write, Read, ReadClock:
	default:
		return fmt.Errorf("unknown f %q", op.F)
	}
	if !op.hasValue() {
		if len(l.Value) > 0 {
			return fmt.Errorf("%v %s carries no value", op.Type, op.F)
		}
		return nil
	}
	if len(l.Value) == 0 {
		return fmt.Errorf("%v %s lacks its value", op.Type, op.F)
	}
	var err error
	switch op.F {
	case Observe, Announce:
		err = strict(l.Value, &op.View)
	case Granted:
		err = strict(l.Value, &op.Vote)
	case Write, Read, Stall:
		err = strict(l.Value, &op.Access)
	case ReadClock:
		err = strict(l.Value, &op.Reading)
	case Begin:
		err = strict(l.Value, op.Setup)
	default:
		err = strict(l.Value, op.Fault)
	}
	if err != nil {
		return fmt.Errorf("value of %s: %w", op.F, err)
	}
	return nil
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
	return fmt.Errorf("unknown role %q: want follower, candidate, leader or unknown", b)
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
		if err != nil || n < 0 {
			return fmt.Errorf(`unknown process %s: want a number, "nemesis" or "harness"`, b)
		}
		*p = Process(n)
	}
	return nil
}
