package history

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Snapshot is a kind that no run makes: this file is all that there is of it.
const Snapshot F = "snapshot"

// Image is what it carries.
type Image struct {
	Upto uint64 `json:"upto"`
	Size int64  `json:"size,omitempty"`
}

func init() {
	image := valued[Image]()
	image.scan = func(s *scanner, op *Op) {
		i := new(Image)
		op.Value = i
		s.skip(`{"upto":`)
		i.Upto = s.count()
		if s.at(`,"size":`) {
			i.Size = s.number()
		}
		s.skip(`}`)
	}
	register(kind{
		name: Snapshot, ofNode: true, value: image, when: whenOK,
		fits: func(op *Op) error {
			if i, ok := op.Value.(*Image); ok && i.Size < 0 {
				return errors.New("a snapshot smaller than nothing")
			}
			return nil
		},
	})
}

func TestAKindIsAllInItsFile(t *testing.T) {
	ops := []Op{
		{Index: 0, Time: 1, Process: 3, Type: Invoke, F: Snapshot, Node: "n1"},
		{Index: 1, Time: 2, Process: 3, Type: OK, F: Snapshot, Node: "n1", Value: &Image{Upto: 7, Size: 512}},
	}
	const end = `{"index":1,"time":2,"process":3,"type":"ok","f":"snapshot","node":"n1","value":{"upto":7,"size":512}}`
	require.Equal(t, end, string(ops[1].AppendJSON(nil))) //nolint:testifylint // byte for byte
	for i := range ops {
		line := ops[i].AppendJSON(nil)
		require.True(t, sameAsDecode(t, line), "it is scanned: %s", line)
		for cut := range line {
			sameAsDecode(t, line[:cut])
		}
		var slow Op
		require.NoError(t, slow.UnmarshalJSON(line))
		require.Equal(t, ops[i], slow)
	}
	h, err := Parse(bytes.NewReader(text(ops)))
	require.NoError(t, err)
	require.Equal(t, ops, h.Ops)
	require.Equal(t, 1, h.Other(0), "it has an invoke")

	begun := string(ops[0].AppendJSON(nil)) + "\n"
	for bad, want := range map[string]string{
		strings.Replace(end, `,"value":{"upto":7,"size":512}`, "", 1): "line 2, column 49: ok snapshot lacks its value",
		strings.Replace(end, `"ok"`, `"fail"`, 1):                     "line 2, column 51: fail snapshot carries no value",
		strings.Replace(end, `,"node":"n1"`, "", 1):                   "line 2, column 1: snapshot lacks its node",
		strings.Replace(end, "512", "-1", 1):                          "line 2, column 1: a snapshot smaller than nothing",
		strings.Replace(end, "upto", "up", 1):                         `line 2, column 80: value of snapshot: json: unknown field "up"`,
	} {
		_, err := Parse(strings.NewReader(begun + bad + "\n"))
		require.EqualError(t, err, want)
	}
}

func TestKindsAreWhole(t *testing.T) {
	met := map[F]bool{}
	for _, first := range kinds {
		for k := first; k != nil; k = k.next {
			met[k.name] = true
			require.Same(t, k, kindOf(k.name))
			require.Equal(t, k.value == nil, k.when == when{}, k.name)
			if k.value != nil {
				require.NotNil(t, k.value.append, k.name)
				require.NotNil(t, k.value.into, k.name)
			}
			require.PanicsWithValue(t, "history: two kinds of op are called "+string(k.name), func() { register(kind{name: k.name}) })
		}
	}
	require.True(t, met[Snapshot])
	require.Panics(t, func() { register(kind{}) }, "an op without f has no kind")
	require.False(t, kindOf("fly").known())
	require.False(t, kindOf("").known())
}
