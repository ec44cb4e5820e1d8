package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
)

func TestPicturesStandAlone(t *testing.T) {
	for name, r := range samples(t) {
		t.Run(name, func(t *testing.T) {
			var b, again bytes.Buffer
			require.NoError(t, SVG(&b, r))
			require.NoError(t, SVG(&again, r))
			require.Equal(t, b.Bytes(), again.Bytes())
			require.NoError(t, os.WriteFile(filepath.Join(t.ArtifactDir(), "timeline.svg"), b.Bytes(), 0o644))
			require.NotContains(t, b.String(), "var(", "there is no page to take colours from")
			require.Contains(t, b.String(), "prefers-color-scheme:dark")

			ids, uses := map[string]bool{}, map[string]bool{}
			var text strings.Builder
			d := xml.NewDecoder(&b)
			for {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
				switch e := token.(type) {
				case xml.StartElement:
					require.NotContains(t, []string{"script", "foreignObject", "image", "a"}, e.Name.Local)
					for _, a := range e.Attr {
						require.NotEqual(t, "href", a.Name.Local)
						switch {
						case a.Name.Local == "id":
							ids[a.Value] = true
						case strings.HasPrefix(a.Value, "url(#"):
							uses[strings.TrimSuffix(strings.TrimPrefix(a.Value, "url(#"), ")")] = true
						}
					}
				case xml.CharData:
					text.Write(e)
				}
			}
			for id := range uses {
				require.True(t, ids[id], id)
			}
			for _, v := range r.Verdicts {
				if v.Verdict.String() == "invalid" {
					require.Contains(t, text.String(), v.Property)
				}
			}
			for _, n := range r.Nodes {
				require.Contains(t, text.String(), n)
			}
		})
	}
}

// Systems say what they like, also what no XML may have.
func TestPicturesAreWellFormed(t *testing.T) {
	const evil = "a\x1b[31m\x00<b>&\uffff"
	s := newScript(1, 100*msec, "n1", evil)
	s.at(time.Second).elect(evil, 3, "n1")
	s.inject(evil, history.Fail, history.Changes{}, evil)
	r := &record.Run{Title: evil + "\xff", Target: evil, Cluster: evil, Nodes: s.nodes, History: s.at(3 * time.Second).end(t),
		Verdicts: []record.Verdict{{Result: checkers.Result{Property: evil, Verdict: checkers.Invalid, Why: evil}}}}
	for _, write := range []func(io.Writer, *record.Run) error{SVG, Strip} {
		var b bytes.Buffer
		require.NoError(t, write(&b, r))
		require.NoError(t, xml.Unmarshal(b.Bytes(), new(struct{})))
	}
}

func TestTheLegendExplainsWhatOccursAndNothingElse(t *testing.T) {
	words := func(r *record.Run) (texts []string) {
		for _, e := range paint(Trace(r), 1200).legend() {
			texts = append(texts, e.Text)
		}
		return texts
	}
	require.Equal(t, []string{
		"leads (number: its term)", "follows the node of that colour", "follows nobody", "candidate", "not observed",
		"two claim to lead at once", "link down", "fault, inject to heal", "evidence",
	}, words(pingPong(t)))
	require.Subset(t, words(storm(t, 9, 60e9)), []string{
		"paused", "down", "cut off from a majority", "… in one term", "write rejected", "stale write accepted", "fault without effect",
		"the machine stood still",
	})
}

// The strip that always shows the whole run has no links.
func TestTheLegendOfAPageExplainsNoLinksWhereNoneWasDown(t *testing.T) {
	s := newScript(1, time.Hour, "n1", "n2")
	s.at(time.Second).inject("kill", history.OK, history.Changes{Procs: []history.Proc{{Node: "n1", State: history.Down}}}, "n1")
	var texts []string
	for _, e := range newView(&record.Run{Nodes: s.nodes, History: s.at(4 * time.Second).end(t)}, nil).Legend {
		texts = append(texts, e.Text)
	}
	require.Contains(t, texts, "fault, inject to heal")
	require.NotContains(t, texts, "link down")
}

// A fault that is confirmed late is drawn from when it began: what came of it stands before its bar.
func TestAFaultThatIsConfirmedLateShowsWhenItBegan(t *testing.T) {
	drawn := func(took time.Duration) (explained bool, said []string) {
		s := newScript(1, time.Hour, "n1", "n2")
		f := history.Fault{ID: 1, Name: "kill", Nodes: []string{"n1"}}
		f.Procs = []history.Proc{{Node: "n1", State: history.Down}}
		op := history.Op{Process: history.Nemesis, Type: history.Invoke, F: history.Inject, Fault: &f}
		s.at(time.Second).add(op)
		op.Type = history.OK
		s.at(time.Second + took).add(op)
		r := &record.Run{Title: "late", Target: "raft", Nodes: s.nodes, History: s.at(4 * time.Second).end(t)}
		r.Stand()
		tl := Trace(r)
		for _, e := range paint(tl, 1200).legend() {
			explained = explained || e.Text == "fault begun, not yet known to have taken effect"
		}
		return explained, faultWords(&tl.Faults[0])
	}
	explained, said := drawn(900 * time.Millisecond)
	require.True(t, explained)
	require.Contains(t, said, "begun at 1.00 s, known from 1.90 s on")
	explained, said = drawn(5 * time.Millisecond)
	require.False(t, explained)
	require.Len(t, said, 1)
}

func TestFollowersWearTheColourOfTheirLeader(t *testing.T) {
	tl := Trace(pingPong(t))
	require.Equal(t, []int{0, -1, 1, -1}, []int{tl.Nodes[0].Colour, tl.Nodes[1].Colour, tl.Nodes[2].Colour, tl.Nodes[3].Colour})
	p := paint(tl, 1200)
	looks := map[string]string{}
	for _, s := range tl.Nodes[1].Segments {
		looks[viewWords(s.View)] = p.look(&tl.Nodes[1], s)
	}
	require.Equal(t, "follow tint0", looks["follower of n1, term 12"])
	require.Equal(t, "follow tint1", looks["follower of n3, term 13"])
}

func TestColoursMixAndAllAreDeclared(t *testing.T) {
	require.Equal(t, "#808080", mix("#ffffff", "#000000", 0.5))
	require.Equal(t, "#123456", mix("#123456", "#ffffff", 1))
	for _, css := range []string{stylesheet, baseCSS, pageCSS} {
		for _, g := range []ground{light, dark} {
			left := strings.NewReplacer("var(--sans)", "", "var(--mono)", "", "var(--tone)", "", "var(--wash)", "").Replace(resolve(css, g))
			require.NotContains(t, left, "var(--")
		}
	}
}

func TestStripNamesWhoLed(t *testing.T) {
	strip := func(r *record.Run) string {
		var b bytes.Buffer
		require.NoError(t, Strip(&b, r))
		require.NoError(t, xml.Unmarshal(b.Bytes(), new(struct{})))
		return b.String()
	}
	tl, ping := Trace(pingPong(t)), strip(pingPong(t))
	for i := range tl.Nodes {
		led := tl.Nodes[i].Colour >= 0
		require.Equal(t, led, strings.Contains(ping, ">"+tl.Names[i]+"</text>"), tl.Names[i])
	}
	evil := newScript(1, 100*msec, "n1", "<b>")
	evil.at(time.Second).elect("<b>", 2, "n1")
	evil.at(2 * time.Second)
	require.Contains(t, strip(&record.Run{History: evil.end(t), Nodes: evil.nodes}), "&lt;b&gt;")
	quiet := newScript(1, 100*msec, "n1", "n2")
	require.Contains(t, strip(&record.Run{History: quiet.at(time.Second).end(t), Nodes: quiet.nodes}), "nobody led")
	require.Contains(t, strip(&record.Run{Title: "t"}), "There is no history to draw.")
	var b bytes.Buffer
	require.NoError(t, NoStrip(&b, "<its history> is no JSON"))
	require.Contains(t, b.String(), "&lt;its history&gt; is no JSON")
}

// The name of a fault is drawn where all of it is seen: behind a fault that ends with the run there is little room, but before it there is.
func TestNamesOfFaultsEndWithThePicture(t *testing.T) {
	s := newScript(1, 100*msec, "n1", "n2")
	s.at(time.Second).elect("n1", 1, "n2")
	s.at(2*time.Second).inject("kill", history.OK, history.Changes{}, "n1")
	s.at(59500*msec).inject("kill", history.OK, history.Changes{}, "n1")
	p := paint(Trace(&record.Run{Nodes: s.nodes, History: s.at(60 * time.Second).end(t)}), 1000)
	shown := 0
	for _, l := range p.labels {
		if text, x := l.fit(p.from, p.scale()); text != "" && l.Class == "faultname" {
			shown++
			require.Equal(t, "kill n1", text)
			require.LessOrEqual(t, x+textWidth(text), ms(p.tl.End)*p.scale()+gutter)
			require.True(t, x > l.From*p.scale() || x+textWidth(text) < l.From*p.scale(), "within its bar, behind it or before it")
		}
	}
	require.Equal(t, 2, shown)
}

// The name of a violation is shown wherever it lies: at the end of a run too, and in a narrow window.
func TestNamesOfViolationsEndWithThePicture(t *testing.T) {
	s := newScript(1, 100*msec, "n1", "n2")
	s.at(time.Second).elect("n1", 1, "n2")
	r := &record.Run{Nodes: s.nodes, History: s.at(60 * time.Second).end(t), Verdicts: []record.Verdict{{
		Result: checkers.Result{Property: "exclusive-leadership", Verdict: checkers.Invalid, From: 59 * time.Second, To: 59500 * msec},
	}}}
	for _, width := range []float64{1200, 400} {
		p := paint(Trace(r), width)
		var b bytes.Buffer
		p.place(&b)
		shown := regexp.MustCompile(`<text class="flagname weak" x="([^"]+)" y="[^"]+">([^<]+)</text>`).FindSubmatch(b.Bytes())
		require.NotNil(t, shown, b.String())
		x, err := strconv.ParseFloat(string(shown[1]), 64)
		require.NoError(t, err)
		require.LessOrEqual(t, x+textWidth(string(shown[2])), width)
	}
}
