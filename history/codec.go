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
	k := kindOf(op.F)
	if k.known() && int(op.Type) < len(k.heads) {
		b = append(b, k.heads[op.Type]...)
	} else {
		b = appendHead(b, op.Type, op.F)
	}
	if op.Node != "" {
		b = append(b, `,"node":`...)
		b = appendString(b, op.Node)
	}
	if k.held(op) {
		b = k.value.append(op, append(b, `,"value":`...))
	}
	if op.Error != "" {
		b = append(b, `,"error":`...)
		b = appendString(b, op.Error)
	}
	return append(b, '}')
}

// appendHead appends what an op is.
func appendHead(b []byte, t Type, f F) []byte {
	b = append(append(b, `,"type":"`...), t.String()...)
	return appendString(append(b, `","f":`...), string(f))
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
