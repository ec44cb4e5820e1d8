package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness"
	"recount/harness/record"
	"recount/report"
	_ "recount/targets/builtin" // the tests run targets by name
)

// hostile is what a system under test could call itself in order to command a browser.
const hostile = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`

// simulate makes a run of a scenario and keeps it.
func simulate(t *testing.T, results, scenario string, seed uint64) *record.Run {
	t.Helper()
	s, err := harness.LoadScenario(scenario)
	require.NoError(t, err)
	r, err := harness.Run(context.Background(), s.Plan(record.Plan{On: record.OnSim, Seed: seed}), harness.Config{
		Results: results, Repeat: "recount run " + scenario,
	})
	require.NoError(t, err)
	return r
}

// spoil makes a copy of a run in which every word is hostile.
func spoil(t *testing.T, r *record.Run, results string) {
	t.Helper()
	dir := filepath.Join(results, "spoilt", "20260101-000000.000")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	quoted, err := json.Marshal(hostile)
	require.NoError(t, err)
	word := strings.Trim(string(quoted), `"`)
	for _, name := range []string{record.RunFile, record.VerdictsFile, record.HistoryFile} {
		b, err := os.ReadFile(filepath.Join(r.Dir, name))
		require.NoError(t, err)
		text := strings.NewReplacer(`"n3"`, `"`+word+`"`, `"ping-pong"`, `"`+word+`"`, " n3 ", " "+word+" ",
			`connection refused`, word).Replace(string(b))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	w, err := record.CreateMessages(dir, false)
	require.NoError(t, err)
	for i := range 20 {
		at := time.Duration(i) * 100 * time.Millisecond
		w.Add(&record.Message{From: "n1", To: hostile, Sent: at, Arrived: at + time.Millisecond, Kind: hostile, Words: hostile, Lost: hostile})
	}
	require.NoError(t, w.Close())
	spoilt, err := record.Read(dir)
	require.NoError(t, err)
	require.NoError(t, report.Write(spoilt))
}

func open(t *testing.T, cfg Config) (*Server, http.Handler) {
	t.Helper()
	s, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, s.Handler()
}

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	return ask(h, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
}

func ask(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// id is a run's place within the results.
func id(t *testing.T, results string, r *record.Run) string {
	t.Helper()
	rel, err := filepath.Rel(results, r.Dir)
	require.NoError(t, err)
	return filepath.ToSlash(rel)
}

func TestPagesTellWhatTheRunsAre(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 1)
	simulate(t, results, "ping-pong", 2)
	_, h := open(t, Config{Results: results})
	home := get(h, "/").Body.String()
	require.Contains(t, home, "no-ping-pong")
	require.Contains(t, home, "2 of 2 runs")
	require.Contains(t, home, "cut-link leader follower")
	require.Contains(t, home, "Asks that under a fixed", "what the property is")
	require.Contains(t, home, "leads (each node has a colour)", "the legend of the strips")
	require.Contains(t, get(h, "/runs/"+id(t, results, r)+"/live").Body.String(), "two claim to lead at once")
	require.Contains(t, get(h, "/runs/"+id(t, results, r)+"/diagram").Body.String(), "follows the node of that colour")
	list := get(h, "/runs").Body.String()
	require.Contains(t, list, "1 to 2 of 2")
	require.Contains(t, list, `<tr class="weak"><td><span class="state"><b aria-hidden="true">!</b>held`, "what was expected is no reason for green")
	require.Contains(t, get(h, "/runs?state=broken").Body.String(), "None")
	page := get(h, "/runs/"+id(t, results, r)+"/").Body.String()
	require.Contains(t, page, "leadership bounced between")
	require.Contains(t, page, `id="picture"`)
	require.Contains(t, get(h, "/runs/"+id(t, results, r)+"/history.jsonl").Body.String(), `"f":"begin"`)

	var ops struct {
		Total, Next int
		Ops         []struct {
			Op    struct{ F, Node, Type string }
			Words string
		}
	}
	api := "/api/v1/runs/" + id(t, results, r) + "/ops"
	require.NoError(t, json.Unmarshal(get(h, api+"?limit=5").Body.Bytes(), &ops))
	require.Equal(t, len(r.History.Ops), ops.Total)
	require.Equal(t, 5, ops.Next)
	require.Equal(t, "begin", ops.Ops[0].Op.F)
	require.NoError(t, json.Unmarshal(get(h, api+"?f=inject&type=ok").Body.Bytes(), &ops))
	require.Len(t, ops.Ops, 1)
	require.Equal(t, -1, ops.Next)
	require.Contains(t, ops.Ops[0].Words, "cut-link")
}

func TestNothingOutsideOfTheResultsIsReached(t *testing.T) {
	outside, results := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("a secret"), 0o600))
	r := simulate(t, results, "ping-pong", 1)
	elsewhere := simulate(t, outside, "ping-pong", 2)
	require.NoError(t, os.Symlink(secret, filepath.Join(r.Dir, "linked.txt")))
	require.NoError(t, os.Symlink(outside, filepath.Join(results, "linked")))
	require.NoError(t, os.Symlink(outside, filepath.Join(r.Dir, record.NodeLogs)))
	s, h := open(t, Config{Results: results})
	require.Equal(t, 1, s.Len(), "runs behind a link are none of the folder's")
	at := "/runs/" + id(t, results, r)
	for _, p := range []string{
		at + "/linked.txt", at + "/nodes/secret", at + "/../../../secret", at + "/%2e%2e/%2e%2e/secret", at + "/..%2f..%2fsecret",
		"/runs/linked/secret", "/runs/linked/" + id(t, outside, elsewhere) + "/", "/runs/..%2f" + filepath.Base(outside) + "/secret",
		at + "/nodes", at + "//etc/passwd", "/assets/..%2fserve.go", "/api/v1/runs/..%2f..%2fetc/ops",
	} {
		w := get(h, p)
		require.NotEqual(t, http.StatusOK, w.Code, p)
		require.NotContains(t, w.Body.String(), "a secret", p)
	}
	require.Equal(t, http.StatusOK, get(h, at+"/run.json").Code)
}

// What is behind a %2F is not cleaned by the server's mux.
func TestAPathThatNamesNothingIsAnswered(t *testing.T) {
	results := t.TempDir()
	at := "/runs/" + id(t, results, simulate(t, results, "ping-pong", 1))
	_, h := open(t, Config{Results: results})
	for _, p := range []string{"/runs/%2F", "/runs/%2Fx", "/runs/%2F/x", at + "/%2F", at + "/x%2F%2Fy", "/runs/x%2F..", "/runs/%FF"} {
		require.Equal(t, http.StatusNotFound, get(h, p).Code, p)
		require.Equal(t, http.StatusNotFound, get(h, "/api/v1"+p).Code, p)
	}
}

func TestFilesOfARunReachNobody(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 1)
	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, "evil.html"), []byte("<script>fetch('/')</script>"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, "evil.js"), []byte("alert(1)"), 0o644))
	_, h := open(t, Config{Results: results})
	page := get(h, "/runs/"+id(t, results, r)+"/evil.html")
	require.Contains(t, page.Header().Get("Content-Security-Policy"), "sandbox allow-scripts; default-src 'none'")
	require.Equal(t, "text/plain; charset=utf-8", get(h, "/runs/"+id(t, results, r)+"/evil.js").Header().Get("Content-Type"))
	require.Equal(t, policy, get(h, "/").Header().Get("Content-Security-Policy"))
	require.NotContains(t, policy, "unsafe")
}

func TestHostileWordsStayWords(t *testing.T) {
	results := t.TempDir()
	spoil(t, simulate(t, results, "ping-pong", 1), results)
	_, h := open(t, Config{Results: results})
	for _, p := range []string{"/", "/runs", "/runs/spoilt/20260101-000000.000/", "/runs?text=" + "%22%3E%3Cscript%3E", "/runs/spoilt/20260101-000000.000/picture.svg"} {
		body := get(h, p).Body.String()
		require.NotContains(t, body, "<img src=x", p)
		require.NotContains(t, body, "<script>document", p)
	}
	require.Contains(t, get(h, "/runs").Body.String(), "&lt;script&gt;")
	require.NotContains(t, get(h, "/api/v1/runs").Body.String(), "<script>")
}

func TestWhoIsLetIn(t *testing.T) {
	results := t.TempDir()
	_, h := open(t, Config{Results: results})
	for host, want := range map[string]int{
		"localhost:8080": 200, "127.0.0.1:1": 200, "[::1]:8080": 200, "evil.example": 403, "localhost.evil.example": 403, "10.0.0.1": 403, "": 403,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		require.Equal(t, want, ask(h, r).Code, host)
	}
	post := httptest.NewRequest(http.MethodPost, "http://localhost/", nil)
	require.Equal(t, http.StatusMethodNotAllowed, ask(h, post).Code)

	_, h = open(t, Config{Results: results, Token: "s3cret"})
	r := httptest.NewRequest(http.MethodGet, "http://ci.example/runs", nil)
	require.Equal(t, http.StatusUnauthorized, ask(h, r).Code)
	require.Equal(t, http.StatusUnauthorized, ask(h, httptest.NewRequest(http.MethodGet, "http://ci.example/?token=wrong", nil)).Code)
	r.Header.Set("Authorization", "Bearer s3cret")
	require.Equal(t, http.StatusOK, ask(h, r).Code)
	w := ask(h, httptest.NewRequest(http.MethodGet, "http://ci.example/runs?token=s3cret&state=held", nil))
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/runs?state=held", w.Header().Get("Location"), "the token does not stay in the address")
	r = httptest.NewRequest(http.MethodGet, "http://ci.example/runs", nil)
	r.AddCookie(w.Result().Cookies()[0])
	require.Equal(t, http.StatusOK, ask(h, r).Code)
	w = ask(h, httptest.NewRequest(http.MethodGet, "http://ci.example//evil.example/?token=s3cret", nil))
	require.Equal(t, "/evil.example/", w.Header().Get("Location"), "nobody is sent to another host")

	for _, token := range []string{"a;b", `"quoted"`, `back\slash`, "geheimnis–ü", "two words"} {
		_, h = open(t, Config{Results: results, Token: token})
		w = ask(h, httptest.NewRequest(http.MethodGet, "http://ci.example/?"+url.Values{"token": {token}}.Encode(), nil))
		cookie := w.Result().Cookies()[0]
		require.Equal(t, http.SameSiteLaxMode, cookie.SameSite, "links from elsewhere are let in")
		r = httptest.NewRequest(http.MethodGet, "http://ci.example/runs", nil)
		r.AddCookie(cookie)
		require.Equal(t, http.StatusOK, ask(h, r).Code, token)
	}
}

func TestEveryStateOfARunShows(t *testing.T) {
	results, now := t.TempDir(), time.Now()
	whole := simulate(t, results, "ping-pong", 1)
	files := map[string][]byte{}
	for _, name := range []string{record.RunFile, record.HistoryFile, record.VerdictsFile} {
		b, err := os.ReadFile(filepath.Join(whole.Dir, name))
		require.NoError(t, err)
		files[name] = b
	}
	put := func(name string, change map[string][]byte) {
		dir := filepath.Join(results, "made", name)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		for f, b := range files {
			if c, changed := change[f]; changed {
				b = c
			}
			if b != nil {
				require.NoError(t, os.WriteFile(filepath.Join(dir, f), b, 0o644))
			}
		}
	}
	history := files[record.HistoryFile]
	put("grows", map[string][]byte{record.VerdictsFile: nil, record.HistoryFile: history[:len(history)/2]})
	put("lost", map[string][]byte{record.HistoryFile: nil})
	put("unbegun", map[string][]byte{record.VerdictsFile: nil, record.HistoryFile: nil})
	put("failed", map[string][]byte{record.VerdictsFile: nil, record.HistoryFile: nil, record.RunFile: failedRun(t, files[record.RunFile])})
	put("no-json", map[string][]byte{record.RunFile: []byte("{")})
	put("no-verdicts", map[string][]byte{record.VerdictsFile: []byte("[")})
	put("older", map[string][]byte{record.RunFile: []byte(strings.Replace(string(files[record.RunFile]), `"version": "`, `"version": "9.`, 1))})
	put("garbled", map[string][]byte{record.HistoryFile: []byte("no history\n")})
	clock := now
	s, h := open(t, Config{Results: results, Now: func() time.Time { return clock }})
	state := func(name string) State { return s.index.run("made/" + name).State }
	require.Equal(t, UnderWay, state("grows"))
	require.Equal(t, Unreadable, state("no-json"))
	require.Equal(t, Unreadable, state("no-verdicts"))
	require.True(t, s.index.run("made/older").Foreign())
	require.Contains(t, get(h, "/runs/made/older/").Body.String(), "Recount 9.")
	require.Contains(t, get(h, "/runs/made/grows/").Body.String(), "was cut off")
	require.Contains(t, get(h, "/runs/made/garbled/").Body.String(), "cannot be shown")
	require.Contains(t, get(h, "/runs/made/garbled/").Body.String(), "Its history cannot be read: history.jsonl: line 1")
	require.Contains(t, get(h, "/runs/made/no-verdicts/").Body.String(), "is no JSON: verdicts.json: ")
	require.Regexp(t, `<text[^>]*>[^<]*Its history`, get(h, "/runs/made/garbled/strip.svg").Body.String(), "a strip says why there is none")
	without := func(name, why string) {
		t.Helper()
		at := "/runs/made/" + name
		require.Contains(t, get(h, at+"/").Body.String(), "<p>"+why+"</p>")
		for _, path := range []string{"/ops", "/events", "/picture", "/messages?at=1s&span=1s"} {
			require.JSONEq(t, `{"error": "`+why+`"}`, get(h, "/api/v1"+at+path).Body.String(), path)
		}
		for _, path := range []string{"/diagram", "/picture.svg", "/ops.csv", "/run.perfetto"} {
			require.Contains(t, get(h, at+path).Body.String(), why, path)
		}
		require.Contains(t, get(h, "/compare?a=made/older&b=made/"+name).Body.String(), "made/"+name+": "+why)
	}
	without("lost", "It was judged, and its history is not in its folder any more.")
	without("unbegun", "It has written no history yet.")
	without("failed", "It kept no history. It could not be made to its end: the engine is gone.")
	require.Contains(t, get(h, "/runs/made/lost/live").Body.String(), "not in its folder any more", "there is nothing to be played again")
	require.Contains(t, get(h, "/runs/made/unbegun/live").Body.String(), "Live", "it may begin")
	require.Contains(t, get(h, "/runs/made/no-json/").Body.String(), "cannot be shown")

	later := func(what string, holds func() bool) {
		clock = clock.Add(time.Hour)
		require.Eventually(t, holds, time.Minute, time.Millisecond, what) // on a busy machine a look takes its time
	}
	later("nobody writes to it any more", func() bool { return state("grows") == CutShort && state("unbegun") == CutShort })
	without("unbegun", "It kept no history. Nothing was written to it for a while, and nobody has judged it: it was killed, or stands still.")
	put("no-json", nil)
	later("it was mended", func() bool { return state("no-json") == Held })
	simulate(t, results, "ping-pong", 2)
	later("a new run shows without a restart", func() bool { return len(s.index.now().runs) == 10 })
	lost := s.index.run("made/lost")
	require.NoError(t, os.RemoveAll(filepath.Join(results, "made")))
	_, err := s.runs.run(lost.ID)
	require.Equal(t, "Its folder is gone, or has no run.json any more.", lost.problem(err))
	require.Equal(t, "Its run.json cannot be read: permission denied.", lost.problem(&fs.PathError{Op: "openat", Path: "made/lost/run.json", Err: fs.ErrPermission}))
	later("what is gone is gone", func() bool { return len(s.index.now().runs) == 2 })
}

// failedRun is a run's run.json as it is when it could not be made to its end.
func failedRun(t *testing.T, b []byte) []byte {
	t.Helper()
	r := map[string]any{}
	require.NoError(t, json.Unmarshal(b, &r))
	r["status"], r["notes"] = record.StatusFailed, []string{"the engine is gone"}
	b, err := json.Marshal(r)
	require.NoError(t, err)
	return b
}

// A run under other faults, in which a property holds, does not say that what these have shown is gone.
func TestWhatOtherFaultsDoNotShowIsNotGone(t *testing.T) {
	run := func(faults string, v checkers.Verdict) *Run {
		r := &Run{Title: "raft", Target: "raft", recipe: "raft\n" + faults, Verdicts: []Verdict{{Property: "elects", Verdict: v}}}
		if v == checkers.Invalid {
			r.Verdicts[0].Kind = Weakness
		}
		return r
	}
	old := run("disk-wipe", checkers.Invalid)
	require.False(t, findings([]*Run{run("kill", checkers.Valid), old})[0].Gone)
	gone := findings([]*Run{run("disk-wipe", checkers.Valid), run("disk-wipe", checkers.Unknown), run("disk-wipe", checkers.Valid), run("kill", checkers.Valid), old})[0]
	require.True(t, gone.Gone)
	require.Equal(t, "not seen in 2 runs since", gone.Standing(), "which is no more than is known")
	require.Equal(t, notSeen, filterOf(&query{Values: url.Values{"state": {"gone"}}}, findingStates()).State, "as it was once called")
	require.Len(t, filter{State: notSeen}.findings([]*Finding{gone}), 1)
	require.Empty(t, filter{State: string(Weakness)}.findings([]*Finding{gone}))
	again := findings([]*Run{run("disk-wipe", checkers.Invalid), run("disk-wipe", checkers.Valid), old})[0]
	require.Equal(t, []any{false, 0, string(Weakness)}, []any{again.Gone, again.Since, again.Standing()})
}

// A run that says an option's default shows the same as one that leaves it out.
func TestADefaultThatIsSaidMakesNoOtherFinding(t *testing.T) {
	results := t.TempDir()
	s, err := harness.LoadScenario("ping-pong")
	require.NoError(t, err)
	for _, scale := range []string{"", "0.1", "0.5"} {
		p := s.Plan(record.Plan{On: record.OnSim, Seed: 7})
		if scale != "" {
			p.Options = map[string]string{"scale": scale}
		}
		_, err := harness.Run(t.Context(), p, harness.Config{Results: results})
		require.NoError(t, err)
	}
	server, _ := open(t, Config{Results: results})
	runs := map[string]int{}
	for _, f := range server.index.now().findings() {
		if f.Property == "no-ping-pong" {
			runs[fmt.Sprint(f.Options)] = f.Runs
		}
	}
	require.Equal(t, map[string]int{"map[]": 2, "map[scale:0.5]": 1}, runs)
}

func TestFindingsPageCountsPromisesAndFoldsWeaknesses(t *testing.T) {
	run := func(property string, k Kind) *Run {
		return &Run{Title: "raft", Target: "raft", Verdicts: []Verdict{{Property: property, Verdict: checkers.Invalid, Kind: k}}}
	}
	all := findings([]*Run{run("elects", Weakness), run("fencing", Promise), run("fencing", Promise), run("leader-dies", Promise), run("ping-pong", Expected)})
	n, in := brokenPromises(all)
	require.Equal(t, []int{2, 3}, []int{n, in}, "two cards, of three runs")
	gs := grouped(all, false)
	require.Len(t, gs, 2)
	require.Len(t, gs[0].Findings, 3)
	require.True(t, gs[0].Open)
	require.Equal(t, "known weaknesses", gs[1].Name)
	require.False(t, gs[1].Open)
	require.True(t, grouped(all, true)[1].Open, "who filters wants to see")
	require.True(t, grouped(gs[1].Findings, false)[0].Open, "nothing stands before them")
	require.Equal(t, []string{"pause leader ×3", "kill n1"}, times([]string{"pause leader", "kill n1", "pause leader", "pause leader"}))
}

// Of a target that is not known here, nobody knows what was promised: what broke is no weakness that its users know of.
func TestWhatMayHaveBeenPromisedIsNoKnownWeakness(t *testing.T) {
	broke := func(v record.Verdict) Verdict {
		v.Property, v.Verdict = "elects", checkers.Invalid
		return Verdict{Property: "elects", Verdict: checkers.Invalid, Kind: kindOf(&v)}
	}
	refuted := &Run{Title: "mine", Target: "mine", State: Broken, Verdicts: []Verdict{broke(record.Verdict{Unclear: true})}}
	weak := &Run{Title: "raft", Target: "raft", Verdicts: []Verdict{broke(record.Verdict{})}}
	all := findings([]*Run{weak, refuted})
	require.Equal(t, "promise not known", all[0].Standing())
	require.Equal(t, Weakness, all[1].Kind)
	require.Len(t, refuted.Violations(), 1)
	gs := grouped(all, false)
	require.Equal(t, all[:1], gs[0].Findings, "it is not folded")
	require.Len(t, filter{State: string(Refuted)}.findings(all), 1)
}

func TestRunsThatRepeatAnOlderOneAreMarked(t *testing.T) {
	run := func(seed uint64, option, recipe string) *Run {
		return &Run{Target: "raft", chosen: map[string]string{"silence": option}, Seed: seed, Nodes: 3, Cluster: record.OnSim, recipe: recipe}
	}
	old, other := run(1, "1s", "kill"), []*Run{run(2, "1s", "kill"), run(1, "2s", "kill"), run(1, "1s", "pause"), {Seed: 1}, {Seed: 1}}
	newer, newest := run(1, "1s", "kill"), run(1, "1s", "kill")
	require.Equal(t, map[*Run]*Run{newer: old, newest: old}, repeats(append([]*Run{newest, newer}, append(other, old)...)))

	results := t.TempDir()
	first := simulate(t, results, "ping-pong", 1)
	_, h := open(t, Config{Results: results})
	require.NotContains(t, get(h, "/runs").Body.String(), ">again</a>")
	simulate(t, results, "ping-pong", 1)
	_, h = open(t, Config{Results: results})
	require.Contains(t, get(h, "/runs").Body.String(), `<a class="chip" href="/runs/`+id(t, results, first)+`/"`)
}

// A run that is replayed names each option, and shows those that say anything.
func TestOptionsAtTheirDefaultsAreNotShown(t *testing.T) {
	results := t.TempDir()
	first := simulate(t, results, "ping-pong", 1)
	named := maps.Clone(first.Options)
	named["scale"] = "0.5"
	_, err := harness.Run(t.Context(), record.Plan{Target: first.Target, On: record.OnSim, Options: named, Time: time.Second}, harness.Config{Results: results})
	require.NoError(t, err)
	_, h := open(t, Config{Results: results})
	page := get(h, "/runs").Body.String()
	require.Contains(t, page, "<code>scale=0.5</code>")
	require.Equal(t, 1, strings.Count(page, "<code>"))
}

func TestLatestIsTheNewestRun(t *testing.T) {
	results := t.TempDir()
	_, h := open(t, Config{Results: results})
	for _, path := range []string{"/runs/latest", "/api/v1/runs/latest/ops"} {
		require.Equal(t, http.StatusNotFound, get(h, path).Code, "there is none")
		require.Contains(t, get(h, path).Body.String(), "There is no run among the results yet", path)
	}
	r := simulate(t, results, "ping-pong", 7)
	_, h = open(t, Config{Results: results})
	at := "/runs/" + id(t, results, r) + "/"
	for from, to := range map[string]string{"": "", "/": "", "?at=3s": "?at=3s", "/?at=3s": "?at=3s", "/live": "live", "/diagram?at=3&span=4": "diagram?at=3&span=4"} {
		w := get(h, "/runs/latest"+from)
		require.Equal(t, []any{http.StatusSeeOther, at + to}, []any{w.Code, w.Header().Get("Location")}, from)
	}
	require.Equal(t, at+"?at=3s", get(h, strings.TrimSuffix(at, "/")+"?at=3s").Header().Get("Location"))
	for _, what := range []string{"", "/", "/ops?limit=1", "/messages?at=1s&span=1ms"} {
		require.Equal(t, http.StatusOK, get(h, "/api/v1/runs/latest"+what).Code, what)
	}
	require.Contains(t, get(h, "/api/v1/runs/latest").Body.String(), id(t, results, r))
}

// Who asks for what there is not is told so: scripts in JSON.
func TestWrongAddressesAreAnsweredInWords(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	_, h := open(t, Config{Results: results})
	for _, p := range []string{"/api/v1/nothing", "/api/", "/api/v2/runs", "/api/v1/runs/nobody"} {
		w := get(h, p)
		require.Equal(t, http.StatusNotFound, w.Code, p)
		var said struct{ Error string }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &said), p)
		require.NotEmpty(t, said.Error, p)
	}
	require.Contains(t, get(h, "/nothing").Body.String(), `id="content"`)
	for _, at := range []string{"1:05s", "3", "-1s", "x"} {
		require.Equal(t, http.StatusBadRequest, get(h, "/runs/"+id(t, results, r)+"/?at="+at).Code, at)
		w := get(h, "/api/v1/runs/"+id(t, results, r)+"/ops?at="+at)
		require.Equal(t, http.StatusBadRequest, w.Code, at)
		require.Contains(t, w.Body.String(), "with a unit", at)
	}
}

// No page is too far to be asked for.
func TestAPageFarBeyondTheLast(t *testing.T) {
	results := t.TempDir()
	simulate(t, results, "ping-pong", 7)
	_, h := open(t, Config{Results: results})
	for _, page := range []string{"2", "1000000", "9223372036854775807", "92233720368547760", "99999999999999999999"} {
		for _, path := range []string{"/runs?page=", "/api/v1/runs?page="} {
			require.Equal(t, http.StatusOK, get(h, path+page).Code, path+page)
		}
	}
}
