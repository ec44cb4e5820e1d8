package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What is garbled is what encoding/json reads as U+FFFD though that is not what it is.
func TestGarbled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "\xff", "\xc3", "é", "€", "\ufffd", `\\`, `\"`, `\n`, `\u00e9`, `\ud83d`, `\ude00`, `\uD83D\uDE00`, `\ufffd`, `u`, `d83d`, "\xf0\x9f\x98\x80", "\xed\xa0\x80",
		}), 0, 8).Draw(t, "parts")
		text := `"` + strings.Join(parts, "") + `"`
		var read string
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		meant := strings.Count(text, "\ufffd") + strings.Count(strings.ReplaceAll(text, `\\`, ""), `\ufffd`)
		at := garbled([]byte(text))
		require.Equal(t, strings.Count(read, "\ufffd") > meant, at >= 0, "%q", text)
	})
}

// Two values that differ must not become one, nor two keys or nodes; an error is words.
func TestWhatIsGarbledIsRefused(t *testing.T) {
	const why = " is no text in UTF-8: what it was nobody knows, nor what is the same"
	refused := func(field, line string) {
		t.Helper()
		_, err := Parse(strings.NewReader(line + "\n"))
		column := 1 + max(strings.Index(line, "\xff"), strings.Index(line, "\xfe"), strings.Index(line, `\ud`))
		require.EqualError(t, err, fmt.Sprintf("line 1, column %d: %s%s", column, field, why))
	}
	refused("value", "{\"process\":0,\"type\":\"invoke\",\"f\":\"put\",\"value\":{\"key\":\"k\",\"value\":\"a\xff\"}}")
	refused("value", `{"process":0,"type":"invoke","f":"put","value":{"key":"\ud800"}}`)
	refused("node", "{\"process\":0,\"type\":\"invoke\",\"f\":\"observe\",\"node\":\"\xfe\"}")
	_, err := Parse(strings.NewReader("{\"process\":0,\"type\":\"invoke\",\"f\":\"put\",\"value\":{\"key\":\"\ufffd\\ud83d\\ude00é\",\"value\":\"\"}}\n" +
		"{\"process\":0,\"type\":\"fail\",\"f\":\"put\",\"error\":\"\xff\"}\n"))
	require.NoError(t, err)
}
