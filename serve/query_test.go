package serve

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a request asks for in a way that is not understood is not passed over: the answer would be to another question.
func TestParametersThatAreNoneAreRefused(t *testing.T) {
	results := t.TempDir()
	run := "/runs/" + id(t, results, simulate(t, results, "ping-pong", 7))
	of := strings.TrimPrefix(run, "/runs/")
	_, h := open(t, Config{Results: results})
	const some = "under way, broken, unknown, held, cut short, unreadable"
	for _, c := range []struct {
		path string
		code int
		want string
	}{
		{run + "/ops?limit=0", 400, `limit is "0": want a whole number, 1 or more.`},
		{run + "/ops?limit=ten", 400, `limit is "ten": want a whole number, 1 or more.`},
		{run + "/ops?from=x", 400, `from is "x": want a whole number, 0 or more.`},
		{run + "/ops?from=-1", 400, `from is "-1": want a whole number, 0 or more.`},
		{run + "/ops?at=3", 400, `at is "3": want a time since the run began, up to 2562047h, with a unit, as in at=12.5s.`},
		{run + "/ops?type=done", 400, `type is "done": want one of invoke, ok, fail, info.`},
		{run + "/ops?process=n1", 400, `process is "n1": want the number of a client, nemesis or harness.`},
		{run + "/events?from=x", 400, `from is "x": want a whole number, 0 or more.`},
		{run + "/messages?span=1s", 400, `at is missing: want times with a unit, as in at=3.5s&span=400ms.`},
		{run + "/messages?at=1s&span=0s", 400, `span is "0s": want a length of time above none, up to 2562047h, with a unit, as in span=400ms.`},
		{run + "/messages?at=1s&span=99999999h", 400, `span is "99999999h": want a length of time above none, up to 2562047h, with a unit, as in span=400ms.`},
		{"/runs?page=x", 400, `page is "x": want a whole number, 1 or more.`},
		{"/runs?page=0", 400, `page is "0": want a whole number, 1 or more.`},
		{"/runs?state=bogus", 400, `state is "bogus": want one of ` + some + `.`},
		{"/runs?state=" + strings.Repeat("x", 1000), 400, `state is "` + strings.Repeat("x", 59) + `…": want one of ` + some + `.`},
		{"/findings?state=held", 400, `state is "held": want one of promise broken, promise not known, as expected, known weakness, new, not seen since.`},
		{"/search", 400, `form is missing: want one of `},
		{"/search?form=select+*", 400, `form is "select *": want one of change-without-fault, two-leaders, `},
		{"/search?form=returned&n=abc", 400, `n is "abc": want a number from 0 to 1000000.`},
		{"/search?form=returned&n=-1", 400, `n is "-1": want a number from 0 to 1000000.`},
		{"/search?form=returned&n=NaN", 400, `n is "NaN": want a number from 0 to 1000000.`},
		{"/search?form=two-leaders&while=bogus", 400, `while is "bogus": want one of paused, down, cut off, under any fault, under no fault.`},
		{"/compare?a=" + of, 400, `b is missing: want the runs to compare, as in a=raft/20260102-150405.000&b=….`},
		{"/compare?a=" + of + "&b=nothing", 404, `b is "nothing": there is no such run among the results.`},
		{"/compare?a=" + of + "&b=" + of + "&by=size", 400, `by is "size": want one of name, role.`},
	} {
		w := get(h, "/api/v1"+c.path)
		require.Equal(t, c.code, w.Code, c.path)
		var said struct{ Error string }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &said), c.path)
		require.True(t, strings.HasPrefix(said.Error, c.want), "%s: %s", c.path, said.Error)
		require.NotContains(t, said.Error, "\n", c.path)
	}
	for path, code := range map[string]int{
		"/?state=held": 400, "/runs?state=new": 400, "/runs?page=0": 400, "/search?form=bogus": 400, "/trends?by=seed": 400, "/compare?a=nothing": 404,
		"/compare.svg?a=" + of: 400, "/search?form=returned&n=&while=&node=": 200, "/?state=not+seen+since": 200, "/?state=gone": 200, "/compare": 200,
	} {
		w := get(h, path)
		require.Equal(t, code, w.Code, path)
		require.Contains(t, w.Body.String(), `id="content"`, "to people it is a page: %s", path)
	}
	for _, path := range []string{run + "/ops?limit=99999999999999999999", run + "/ops?from=99999999999999999999", run + "/ops?process=nemesis", run + "/ops?process=0&from=&limit="} {
		require.Equal(t, http.StatusOK, get(h, "/api/v1"+path).Code, path)
	}
	require.Contains(t, get(h, "/search?form=returned&n="+url.QueryEscape(hostile)).Body.String(), "&lt;img", "what was given is text")
}

func TestTheDocumentHasEveryState(t *testing.T) {
	b, err := os.ReadFile("../docs/serve.md")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(b)), " ") // a state's words may stand on two lines
	_, section, found := strings.Cut(text, "## Findings ")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "## ")
	for _, state := range findingStates() {
		require.Contains(t, section, "`"+state+"`")
	}
	_, row, found := strings.Cut(text, "| Runs | `/runs` | ")
	require.True(t, found)
	row, _, _ = strings.Cut(row, " | ")
	for _, state := range runStates() {
		require.Contains(t, row, state)
	}
}
