package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
)

func pageOf(t testing.TB, r *record.Run) []byte {
	var b bytes.Buffer
	require.NoError(t, HTML(&b, r))
	return b.Bytes()
}

// walk calls f with every element.
func walk(n *html.Node, f func(*html.Node)) {
	if n.Type == html.ElementNode {
		f(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, f)
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var s strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		s.WriteString(textOf(c))
	}
	return s.String()
}

// balanced fails where an element of the page is not closed, which parsers forgive and people do not.
func balanced(t *testing.T, page []byte) {
	void := map[string]bool{"meta": true, "input": true, "link": true, "br": true}
	var open []string
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			require.Empty(t, open)
			return
		case html.StartTagToken:
			if name, _ := z.TagName(); !void[string(name)] {
				open = append(open, string(name))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			require.NotEmpty(t, open, "</%s>", name)
			require.Equal(t, open[len(open)-1], string(name))
			open = open[:len(open)-1]
		}
	}
}

// samples are runs of every size that a page must cope with; their pages are kept with -artifacts, to be looked at.
func samples(t *testing.T) map[string]*record.Run {
	return map[string]*record.Run{
		"4-nodes": pingPong(t), "9-nodes": storm(t, 9, 60*time.Second), "25-nodes": storm(t, 25, 40*time.Second),
		"10-minutes": storm(t, 9, 10*time.Minute), "empty": judged(),
	}
}

func TestPagesNeedNothingElse(t *testing.T) {
	for name, r := range samples(t) {
		t.Run(name, func(t *testing.T) {
			page := pageOf(t, r)
			require.NoError(t, os.WriteFile(filepath.Join(t.ArtifactDir(), "report.html"), page, 0o644))
			balanced(t, page)
			root, err := html.Parse(bytes.NewReader(page))
			require.NoError(t, err)
			walk(root, func(n *html.Node) {
				require.NotContains(t, []string{"link", "img", "iframe", "object", "base"}, n.Data)
				for _, a := range n.Attr {
					switch a.Key {
					case "src", "srcset":
						t.Fatalf("%s loads %s", n.Data, a.Val)
					case "href":
						require.NotRegexp(t, `^[a-z]*:|^//`, a.Val, "links stay within the run's folder")
					}
				}
			})
			for _, loads := range []string{"@import", "url(http", "url(//", "fetch(", "XMLHttpRequest", "http://", "https://"} {
				text := strings.ReplaceAll(string(page), "http://www.w3.org/2000/svg", "") // a name, not an address
				require.NotContains(t, text, loads)
			}
			require.Equal(t, page, pageOf(t, r), "the same run makes the same bytes")
		})
	}
}

func TestPagesShowEveryVerdictAndItsEvidence(t *testing.T) {
	for name, r := range samples(t) {
		t.Run(name, func(t *testing.T) {
			root, err := html.Parse(bytes.NewReader(pageOf(t, r)))
			require.NoError(t, err)
			ids, links := map[string]bool{}, map[string]bool{}
			var articles []string
			walk(root, func(n *html.Node) {
				if id := attribute(n, "id"); id != "" {
					require.False(t, ids[id], "id %s twice", id)
					ids[id] = true
				}
				if to := attribute(n, "href"); strings.HasPrefix(to, "#") {
					links[to[1:]] = true
				}
				if n.Data == "article" {
					articles = append(articles, textOf(n))
				}
			})
			for to := range links {
				require.True(t, ids[to], "a link leads to #%s", to)
			}
			require.Len(t, articles, len(r.Verdicts))
			for i, v := range ranked(r) {
				for _, part := range []string{v.Property, v.Verdict.String(), v.Why, meaning(v)} {
					require.Contains(t, articles[i], part, "in order: the worst first")
				}
				for _, op := range v.Ops {
					require.True(t, ids[fmt.Sprint("op-", op)], "op %d of %s is in the table", op, v.Property)
					require.Contains(t, articles[i], fmt.Sprint(op))
				}
			}
			page := string(pageOf(t, r))
			timeline := strings.Index(page, `id="timeline"`)
			require.Less(t, strings.LastIndex(page, `class="card `), timeline, "what broke comes first, and when")
			if others := strings.Index(page, `class="others"`); others >= 0 {
				require.Less(t, timeline, others)
			}
			require.Contains(t, textOf(root), Sentence(r))
			require.Contains(t, textOf(root), r.Repeat)
		})
	}
}

func TestThePageLeadsWithWhatWasSeen(t *testing.T) {
	v := func(property string, is checkers.Verdict, promised bool) record.Verdict {
		return record.Verdict{Result: checkers.Result{Property: property, Verdict: is, Why: "why " + property}, Promised: promised}
	}
	held := v("held", checkers.Valid, true)
	for _, c := range []struct {
		r                *record.Run
		mark, tone, seen string
	}{
		{judged(held), "✓", "held", ""},
		{judged(held, v("weak", checkers.Invalid, false)), "!", "weak", "why weak"},
		{judged(held, v("weak", checkers.Invalid, false), v("promise", checkers.Invalid, true)), "✕", "broken", "why promise"},
		{judged(v("open", checkers.Unknown, true)), "?", "open", ""},
	} {
		got := newView(c.r, nil)
		require.Equal(t, []string{c.mark, c.tone}, []string{got.Mark, got.Tone}, "green is for runs without a violation")
		if c.seen == "" {
			require.Nil(t, got.Seen)
			continue
		}
		require.Equal(t, c.seen, got.Seen.Why)
		var b bytes.Buffer
		require.NoError(t, HTML(&b, c.r))
		page := b.String()
		require.Less(t, strings.Index(page, "Seen: "+c.seen), strings.Index(page, Sentence(c.r)))
	}
}

func TestPagesEscapeWhatSystemsSay(t *testing.T) {
	const evil = `</script><script>alert("x")</script><!--`
	s := newScript(1, 100*msec, "n1", evil)
	s.at(time.Second).elect("n1", 3, evil)
	heal := s.inject(evil, history.Fail, history.Changes{}, evil)
	s.ops[len(s.ops)-1].Error = evil
	cut := s.inject("cut", history.OK, cutBetween([]string{"n1"}, []string{evil}), "n1")
	at := s.write(evil, 3, history.Fail)
	s.ops[at].Error = evil
	s.at(3 * time.Second)
	heal()
	cut()
	r := &record.Run{
		Title: evil, Target: evil, Cluster: evil, Options: map[string]string{evil: evil}, Nodes: s.nodes, Repeat: evil,
		Notes: []string{evil}, Version: evil, History: s.end(t),
		Verdicts: []record.Verdict{{
			Result: checkers.Result{
				Property: evil, Verdict: checkers.Invalid, Why: evil, Ops: []int{at}, Stack: evil,
				Figures: []checkers.Figure{{Name: evil, Value: evil}},
			},
			Promised: true, While: evil,
		}},
	}
	page := pageOf(t, r)
	balanced(t, page)
	root, err := html.Parse(bytes.NewReader(page))
	require.NoError(t, err)
	scripts := 0
	walk(root, func(n *html.Node) {
		if n.Data == "script" {
			scripts++
		}
		for _, a := range n.Attr {
			require.False(t, strings.HasPrefix(a.Key, "on"), "%s has %s", n.Data, a.Key)
		}
	})
	require.Equal(t, 2, scripts, "the data and the script")
	require.Contains(t, textOf(root), evil, "it is shown all the same")

	var svg bytes.Buffer
	require.NoError(t, SVG(&svg, r))
	require.NotContains(t, svg.String(), "<script")
}

// endless is a history of so many ops in which every node changes its mind again and again.
func endless(t testing.TB, ops int) *record.Run {
	rnd := rand.New(rand.NewPCG(1, 1))
	s := newScript(1, time.Hour, "n1", "n2", "n3", "n4", "n5")
	for term := uint64(1); len(s.ops) < ops; term++ {
		s.now += time.Duration(rnd.IntN(10)) * msec
		n := s.nodes[rnd.IntN(5)]
		s.becomes(n, history.Role(1+rnd.IntN(3)), term, s.nodes[rnd.IntN(5)])
		if term%3 == 0 {
			s.write(n, term, []history.Type{history.OK, history.Fail, history.Info}[rnd.IntN(3)])
		}
		if term%50 == 0 && n != "n1" {
			s.inject("cut-link", history.OK, cutBetween([]string{"n1"}, []string{n}), "n1", n)()
		}
	}
	all := make([]int, len(s.ops))
	for i := range all {
		all[i] = i
	}
	r := &record.Run{
		Title: "endless", Target: "raft", Nodes: s.nodes, History: s.end(t),
		Verdicts: []record.Verdict{{Result: checkers.Result{Property: "elects", Verdict: checkers.Invalid, Why: "never", Ops: all}, Promised: true}},
	}
	r.Stand()
	return r
}

func TestPagesOfLongRunsStaySmall(t *testing.T) {
	page := pageOf(t, endless(t, 100_000))
	require.Less(t, len(page), 6<<20)
	longer := pageOf(t, endless(t, 400_000))
	require.Less(t, len(longer), 6<<20, "there is a bound, not a factor")
	require.Contains(t, string(longer), "more</span>", "ops that the card leaves out are counted")
	require.Regexp(t, `left out: \d+ of \d+ leaderships; `, string(longer))
	require.Regexp(t, `after each, and \d+ of the \d+ of the nemesis; `, string(longer))
	require.Contains(t, string(pageOf(t, pingPong(t))), "after each, and all of the nemesis; ")
}

func BenchmarkPage(b *testing.B) {
	r := storm(b, 9, 10*time.Minute)
	for b.Loop() {
		b.SetBytes(int64(len(pageOf(b, r))))
	}
}

func TestTheScriptGetsWhatIsDrawn(t *testing.T) {
	page := pageOf(t, pingPong(t))
	found := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindSubmatch(page)
	require.NotNil(t, found)
	var d struct {
		End    float64
		Labels [][]any
		Marks  [][]any
		Rows   []struct {
			S [][3]float64
		}
		Words []string
		Flags [][]float64
	}
	require.NoError(t, json.Unmarshal(found[1], &d))
	require.InDelta(t, 24_000, d.End, 1)
	require.Len(t, d.Marks, 16, "15 leaders of one violation, and one of them of the other, too")
	require.Len(t, d.Flags, 2)
	for _, r := range d.Rows {
		for _, item := range r.S {
			require.Less(t, int(item[2]), len(d.Words))
			require.LessOrEqual(t, item[0], item[1])
		}
	}
	require.Contains(t, d.Words, "n1 claims to lead in term 12")
	require.Contains(t, d.Words, "n3: candidate, term 13")
	require.Contains(t, d.Words, "n1 – n3: down, both ways")
}

func TestRunsAreWrittenAndReadBack(t *testing.T) {
	r := storm(t, 5, 30*time.Second)
	r.Dir = filepath.Join(t.TempDir(), "run")
	r.Plan = record.Plan{Target: "raft"}
	require.NoError(t, record.Save(r))
	f, err := os.Create(filepath.Join(r.Dir, record.HistoryFile))
	require.NoError(t, err)
	rec := history.NewRecorder(f, 1<<20)
	for _, op := range r.History.Ops {
		rec.Append(op)
	}
	require.NoError(t, rec.Flush())
	require.NoError(t, f.Close())

	unjudged, err := record.Read(r.Dir)
	require.NoError(t, err)
	require.Empty(t, unjudged.Verdicts, "a killed run has none")

	require.NoError(t, os.MkdirAll(filepath.Join(r.Dir, record.NodeLogs), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, record.NodeLogs, "n1.log"), []byte("hello\n"), 0o644))
	others := map[string]string{
		record.MessagesFile + record.Compressed: "what the nodes sent each other", record.DefinitionFile: "the description of its target",
		record.ScenarioFile("single-leader-per-term"): "the scenario that shows it again", "notes.odt": "none of the run",
	}
	for name := range others {
		require.NoError(t, os.WriteFile(filepath.Join(r.Dir, name), nil, 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, "run.json.1-2.part"), nil, 0o644))
	require.NoError(t, Write(r))
	for _, name := range []string{record.RunFile, record.VerdictsFile, pageFile, textFile, junitFile, PictureFile, record.ReproFile, "porcupine/single-leader-per-term.html"} {
		require.FileExists(t, filepath.Join(r.Dir, name))
	}
	page, err := os.ReadFile(Page(r))
	require.NoError(t, err)
	for _, link := range []string{"porcupine/single-leader-per-term.html", "nodes/n1.log", "history.jsonl"} {
		require.Contains(t, string(page), `href="`+link+`"`)
	}
	for name, about := range others {
		require.Contains(t, string(page), `<a href="`+name+`">`+name+`</a> <span>`+about)
	}
	listed := files(r, os.DirFS(r.Dir))
	for _, f := range listed {
		require.FileExists(t, filepath.Join(r.Dir, f.Path))
		require.Equal(t, 1, strings.Count(string(page), `<a href="`+f.Path+`">`+f.Path+`</a>`), "each of them once")
	}
	var there int
	require.NoError(t, filepath.WalkDir(r.Dir, func(_ string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			there++
		}
		return err
	}))
	require.Len(t, listed, there-1, "all that is there, besides what is being written")

	back, err := record.Read(r.Dir)
	require.NoError(t, err)
	for i := range r.Verdicts {
		r.Verdicts[i].Drawing = nil // it lies in a file of its own
	}

	require.Equal(t, r, back)
	require.Equal(t, page, pageOf(t, back), "the report can be made again from the folder")

	whole, err := os.ReadFile(filepath.Join(r.Dir, record.HistoryFile))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, record.HistoryFile), whole[:len(whole)-20], 0o644))
	back, err = record.Read(r.Dir)
	require.NoError(t, err)
	require.Contains(t, back.Notes[len(back.Notes)-1], "cut off after")

	_, err = record.Read(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Names of files may have characters that mean something in links.
func TestLinksLeadToFilesOfAnyName(t *testing.T) {
	r := &record.Run{Dir: t.TempDir(), History: &history.History{}}
	require.NoError(t, os.Mkdir(filepath.Join(r.Dir, record.NodeLogs), 0o755))
	names := []string{"50%.log", "n%31.log", "a#b.log", "what?.log", "a&b \"c\" <d>.log", "nodes:1.log"}
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(r.Dir, record.NodeLogs, name), nil, 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(r.Dir, "javascript:x"), nil, 0o644))
	doc, err := html.Parse(bytes.NewReader(pageOf(t, r)))
	require.NoError(t, err)
	var linked []string
	walk(doc, func(n *html.Node) {
		link := attribute(n, "href")
		if n.Data != "a" || link == "" || strings.HasPrefix(link, "#") {
			return
		}
		to, err := (&url.URL{Scheme: "file", Path: r.Dir + "/"}).Parse(link)
		require.NoError(t, err)
		require.Empty(t, to.RawQuery+to.Fragment, link)
		if rel, err := filepath.Rel(r.Dir, to.Path); err == nil {
			linked = append(linked, rel)
		}
	})
	require.Contains(t, linked, "javascript:x")
	for _, name := range names {
		require.Contains(t, linked, record.NodeLogs+"/"+name)
	}
}
