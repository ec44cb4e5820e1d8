package report

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
	"recount/internal/term"
	"recount/nemesis"
)

func TestTextKeepsItsWidthAndEndsWithTheWayBack(t *testing.T) {
	for _, r := range []*record.Run{pingPong(t), storm(t, 9, 60*time.Second)} {
		var b bytes.Buffer
		require.NoError(t, Text(&b, r, false))
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		for _, l := range lines {
			require.LessOrEqual(t, utf8.RuneCountInString(l), columns, l)
			require.Equal(t, strings.TrimRight(l, " "), l)
		}
		require.Equal(t, "report: "+Page(r), lines[len(lines)-2])
		require.Equal(t, "repeat: "+r.Repeat, lines[len(lines)-1])
	}
}

func TestTextHasColoursOnlyWhenAsked(t *testing.T) {
	r := pingPong(t)
	var plain, coloured bytes.Buffer
	require.NoError(t, Text(&plain, r, false))
	require.NoError(t, Text(&coloured, r, true))
	require.NotContains(t, plain.String(), "\x1b")
	require.Contains(t, coloured.String(), "\x1b[33minvalid\x1b[0m")
	stripped := coloured.String()
	for _, c := range []term.Colour{term.Bold, term.Dim, term.Red, term.Green, term.Yellow, "0"} {
		stripped = strings.ReplaceAll(stripped, "\x1b["+string(c)+"m", "")
	}
	require.Equal(t, strings.Fields(plain.String()), strings.Fields(stripped))
}

func TestColoursNeedATerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer f.Close()
	require.False(t, Colours(f), "a file is no terminal")
	t.Setenv("NO_COLOR", "1")
	require.False(t, Colours(os.Stdout))
}

func TestTextOfASystemCannotCommandTheTerminal(t *testing.T) {
	r := pingPong(t)
	r.Verdicts[0].Why = "n1 said \x1b[2Jnothing\r\x07 at all"
	r.Notes = []string{"a\x1b]0;title\x07b"}
	var b bytes.Buffer
	require.NoError(t, Text(&b, r, false))
	require.Contains(t, b.String(), "[2Jnothing at all")
	for _, c := range b.String() {
		require.True(t, c == '\n' || c >= ' ', "%q", c)
	}
}

// judged is a run with nothing but verdicts, and stands as they say.
func judged(vs ...record.Verdict) *record.Run {
	h, err := history.New([]history.Op{{F: history.End, Type: history.OK, Process: history.Harness}})
	if err != nil {
		panic(err)
	}
	r := &record.Run{Title: "t", Target: "t", Verdicts: vs, History: h}
	r.Stand()
	return r
}

func TestWhatIsMissingIsToldByTheVerdictsAlone(t *testing.T) {
	open := record.Verdict{Result: checkers.Result{Property: "fencing", Verdict: checkers.Unknown}, Promised: true}
	r := &record.Run{Verdicts: []record.Verdict{open}, Standing: record.Standing{Status: record.StatusUnknown}}
	require.Equal(t, "Not decided: fencing. Nothing that was promised is known to have broken.", Missing(r))
	r.Verdicts = nil
	require.Empty(t, Missing(r), "that no fault took effect is not told by them")
}

func TestTheSentenceSaysWhatTheStatusMeans(t *testing.T) {
	v := func(property string, is checkers.Verdict, promised bool, expect checkers.Verdict) record.Verdict {
		return record.Verdict{Result: checkers.Result{Property: property, Verdict: is}, Promised: promised, Expect: expect}
	}
	const none = checkers.Unknown
	untested := v("fencing", checkers.Unknown, true, none)
	untested.Untested = true
	failed := judged()
	failed.Status = record.StatusFailed
	for want, r := range map[string]*record.Run{
		"Every promise held.": judged(v("elects", checkers.Valid, true, none)),
		"Every promise held. Known weaknesses seen: a and b.": judged(v("elects", checkers.Valid, true, none),
			v("a", checkers.Invalid, false, none), v("b", checkers.Invalid, false, none)),
		"Every promise that was put to the test held.":                                       judged(v("elects", checkers.Valid, true, none), untested),
		"What was expected happened: a is invalid.":                                          judged(v("a", checkers.Invalid, false, checkers.Invalid)),
		"A promise broke: a.":                                                                judged(v("a", checkers.Invalid, true, none), v("b", checkers.Valid, true, none)),
		"3 promises broke: a, b and c.":                                                      judged(v("a", checkers.Invalid, true, none), v("b", checkers.Invalid, true, none), v("c", checkers.Invalid, true, none)),
		"What was expected did not happen: a is valid, not invalid.":                         judged(v("a", checkers.Valid, false, checkers.Invalid)),
		"Not decided: a. Nothing that was promised is known to have broken.":                 judged(v("a", checkers.Unknown, true, none)),
		"No promise was put to the test. Nothing that was promised is known to have broken.": judged(untested),
		"Nothing was judged.":                                                                judged(),
		"The harness or the engine failed; this says nothing about the target.":              failed,
	} {
		require.Equal(t, want, Sentence(r))
	}

	cut := judged(v("a", checkers.Valid, false, none))
	cut.History = &history.History{}
	cut.Stand()
	require.Contains(t, Sentence(cut), "cut short")
	for _, c := range []struct {
		plan  record.Plan
		types []history.Type
		want  string
	}{
		{record.Plan{Faults: []string{"kill"}}, []history.Type{history.OK, history.Fail}, "Every promise held."},
		{record.Plan{Faults: []string{"kill"}}, []history.Type{history.Info, history.Fail}, "No fault was seen to take effect"},
		{record.Plan{Schedule: nemesis.Schedule{{}}}, []history.Type{history.OK, history.Fail}, "Not every fault was seen to take effect, so the run decides nothing: no vote was seen. Nothing"},
		{record.Plan{}, []history.Type{history.OK, history.Info}, "Every promise held."},
		{record.Plan{}, []history.Type{history.Info}, "No fault was seen to take effect"},
	} {
		r := judged(v("a", checkers.Valid, true, none))
		for _, is := range c.types {
			op := history.Op{F: history.Inject, Type: is, Process: history.Nemesis}
			if is != history.OK {
				op.Error = "no vote was seen"
			}
			r.History.Ops = append([]history.Op{op}, r.History.Ops...)
		}
		r.Plan = c.plan
		r.Stand()
		require.Contains(t, Sentence(r), c.want)
	}
}

func TestTimesAreWrittenForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 1500 * time.Microsecond: "1.50 ms", 42 * msec: "42 ms", 12345 * time.Microsecond: "12.3 ms",
		123456 * time.Microsecond: "123 ms", 999 * msec: "999 ms", time.Second: "1.00 s", 90 * time.Second: "90.00 s",
		121 * time.Second: "2 min 01.0 s", 10*time.Minute + 40*msec: "10 min 00.0 s",
		day - 100*msec: "1439 min 59.9 s", day - 10*msec: "1 day", day: "1 day", 25 * time.Hour: "1 day 1 h", 2*day + 3*time.Minute + 4100*msec: "2 days 3 min 04.1 s",
	} {
		require.Equal(t, want, seconds(d))
	}
	for d, want := range map[time.Duration]string{
		59 * time.Second: "59 s", 90 * time.Minute: "90:00", day - time.Second: "1439:59", day: "24:00:00", 49*time.Hour + 61*time.Second: "49:01:01", -day: "−24:00:00",
	} {
		require.Equal(t, want, tickText(ms(d), 1000))
	}
}
