package history

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysThatAreGivenTwice(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:    "",
		`7`:     "",
		`"a:b"`: "",
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}`: "",
		`{"a":"b","b":"a"}`:                         "",
		`{"a":"{\"a\":1","b":"\\"}`:                 "",
		`{"a":{"b":1},"a":2}`:                       "a",
		`{"x":[{"b":1,"c":2, "b" :3}]}`:             "b",
		`{"leader":1,"\u006ceader":2}`:              "leader",
	} {
		key, column := twice([]byte(text))
		require.Equal(t, want, key, text)
		require.Equal(t, want != "", column > 0, text)
	}
}
