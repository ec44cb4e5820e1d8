package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// polls is a begin and ops of one client as they are given, "INDEX TIME TYPE" each, with - for an index that is left out.
func polls(ops ...string) string {
	var b strings.Builder
	b.WriteString(`{"type":"ok","process":"harness","f":"begin","value":{"nodes":["n1"]}}` + "\n\n")
	for _, op := range ops {
		var index, time, kind string
		fmt.Sscan(op, &index, &time, &kind)
		value := ""
		if kind == "ok" {
			value = `,"value":{"role":"leader","term":1}`
		}
		line := fmt.Sprintf(`{"index":%s,"time":%s,"process":1,"type":%q,"f":"observe","node":"n1"%s}`, index, time, kind, value)
		b.WriteString(strings.Replace(line, `"index":-,`, "", 1) + "\n")
	}
	return b.String()
}

func TestNoTwoOpsHaveOneIndex(t *testing.T) {
	for _, c := range []struct {
		ops  []string
		want string
	}{
		{[]string{"1 1 invoke", "2 2 ok", "3 3 invoke", "4 4 ok"}, ""},
		{[]string{"0 1 invoke", "1 2 ok"}, ""},               // begin was put before them
		{[]string{"7 1 invoke", "900 2 ok"}, ""},             // some are left out
		{[]string{"2 1 invoke", "1 2 ok"}, ""},               // in another order
		{[]string{"- 1 invoke", "- 2 ok", "- 3 invoke"}, ""}, // places in the file
		{[]string{"1 1 invoke", "2 2 ok", "2 3 invoke"}, "line 5, column 1: index 2 is that of line 4, too: which of the two do verdicts mean by it?"},
		{[]string{"5 1 invoke", "2 2 ok", "9 3 invoke", "5 4 ok", "2 5 invoke"}, "line 6, column 1: index 5 is that of line 3, too: which of the two do verdicts mean by it?"},
		{[]string{"-6 1 invoke"}, "line 3, column 1: index -6: want the op's number, from 0"},
	} {
		text := polls(c.ops...)
		h, err := Parse(strings.NewReader(text))
		if c.want != "" {
			require.EqualError(t, err, c.want)
			if strings.Contains(c.want, "too") {
				require.Contains(t, hint.Of(err), "leave index out")
				require.ErrorIs(t, Stream(strings.NewReader(text), func(*Op) error { return nil }), ErrDisorder, "who sees one op at a time cannot tell")
			}
			continue
		}
		require.NoError(t, err, text)
		if strings.Contains(c.ops[0], "-") {
			require.Equal(t, []int{0, 1, 2, 3}, []int{h.Ops[0].Index, h.Ops[1].Index, h.Ops[2].Index, h.Ops[3].Index})
		}
	}
}

// In a history of Jepsen's that was stored, what became of a fault has the index of its begin, and begin is before all.
func TestTheIndexesOfOthersHistoriesAreTheirs(t *testing.T) {
	text := strings.Replace(polls("0 1 invoke", "0 2 ok"), `{"type":"ok","process":"harness","f":"begin","value":{`,
		`{"index":-1,"type":"ok","process":"harness","f":"begin","value":{"model":"register",`, 1)
	_, err := Parse(strings.NewReader(text))
	require.NoError(t, err)
	require.NoError(t, Stream(strings.NewReader(text), func(*Op) error { return nil }))
}

// What is wrong only once the ops are in order is told with the line that it has in the file.
func TestWhatIsWrongInDisorderIsToldWithItsLine(t *testing.T) {
	const never = "op 3: process 1 ends observe, and has none under way"
	_, err := Parse(strings.NewReader(polls("3 9 ok", "1 1 invoke", "2 2 ok", "4 10 invoke")))
	require.EqualError(t, err, "line 3, column 1: "+never)

	whole := polls("1 1 invoke", "2 2 ok") + `{"index":9,"time":20,"process":"harness","type":"ok","f":"end"}` + "\n"
	_, err = Parse(strings.NewReader(whole + polls("3 9 ok")[len(polls()):]))
	require.EqualError(t, err, "line 6, column 1: "+never)
	require.Equal(t, "the line stands behind end, on line 5: is it of another run?", hint.Of(err))
}

func TestOpsAreArranged(t *testing.T) {
	ops := make([]Op, 6)
	for i := range ops {
		ops[i].Index = i
	}
	places := []int32{3, 0, 2, 1, 5, 4}
	arrange(ops, places)
	for i, op := range ops {
		require.Equal(t, int(places[i]), op.Index)
	}
	require.Equal(t, []int32{3, 0, 2, 1, 5, 4}, places)
}
