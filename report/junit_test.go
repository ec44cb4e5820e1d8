package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/checkers"
	"recount/harness/record"
)

// element is any XML element.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e element) named(name string) (found []element) {
	for _, c := range e.Children {
		if c.XMLName.Local == name {
			found = append(found, c)
		}
	}
	return found
}

func parseJUnit(t *testing.T, r *record.Run) (suites, suite element, cases map[string]element) {
	var b bytes.Buffer
	require.NoError(t, JUnit(&b, r))
	require.True(t, strings.HasPrefix(b.String(), xml.Header))
	d := xml.NewDecoder(&b)
	d.Strict = true
	require.NoError(t, d.Decode(&suites))
	_, err := d.Token()
	for err == nil {
		_, err = d.Token()
	}
	require.Equal(t, io.EOF, err, "nothing but white space follows")
	require.Equal(t, "testsuites", suites.XMLName.Local)
	require.Len(t, suites.Children, 1)
	suite = suites.Children[0]
	cases = map[string]element{}
	for _, c := range suite.named("testcase") {
		cases[c.attr("name")] = c
	}
	return suites, suite, cases
}

// What CI systems accept is the common part of their schemas: these elements in this order, with these attributes.
func TestJUnitHasTheCommonStructure(t *testing.T) {
	allowed := map[string][]string{
		"testsuites": {"testsuite"}, "testsuite": {"properties", "testcase", "system-out"}, "properties": {"property"},
		"testcase": {"skipped", "error", "failure", "system-out"}, "property": {}, "skipped": {}, "error": {}, "failure": {}, "system-out": {},
	}
	needed := map[string][]string{
		"testsuites": {"name", "tests", "failures", "errors", "time"}, "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
		"testcase": {"name", "classname", "time"}, "property": {"name", "value"}, "failure": {"message", "type"}, "error": {"message", "type"},
		"skipped": {"message"},
	}
	var check func(e element)
	check = func(e element) {
		at := 0
		for _, c := range e.Children {
			for at < len(allowed[e.XMLName.Local]) && allowed[e.XMLName.Local][at] != c.XMLName.Local {
				at++
			}
			require.Less(t, at, len(allowed[e.XMLName.Local]), "%s in %s is out of order or unknown", c.XMLName.Local, e.XMLName.Local)
			check(c)
		}
		for _, a := range needed[e.XMLName.Local] {
			require.NotEmpty(t, e.attr(a), "%s of %s", a, e.XMLName.Local)
		}
	}
	for _, r := range []*record.Run{pingPong(t), storm(t, 9, 60*time.Second)} {
		suites, suite, cases := parseJUnit(t, r)
		check(suites)
		require.Len(t, cases, len(r.Verdicts))
		for attr, outcome := range map[string]string{"failures": "failure", "errors": "error", "skipped": "skipped"} {
			count := 0
			for _, c := range cases {
				count += len(c.named(outcome))
			}
			require.Equal(t, strconv.Itoa(count), suite.attr(attr))
			require.Equal(t, suite.attr(attr), suites.attr(attr))
		}
		require.Equal(t, "2026-01-02T03:04:05", suite.attr("timestamp"))
	}
}

func TestJUnitFailsOnlyWhatDecidesTheStatus(t *testing.T) {
	v := func(property string, is checkers.Verdict, promised bool, expect checkers.Verdict) record.Verdict {
		return record.Verdict{Result: checkers.Result{Property: property, Verdict: is, Why: "why " + property, Ops: []int{3, 5}}, Promised: promised, Expect: expect}
	}
	untested := v("untested", checkers.Unknown, true, checkers.Unknown)
	untested.Untested = true
	r := judged(
		v("broken", checkers.Invalid, true, checkers.Unknown), v("missed", checkers.Valid, true, checkers.Invalid),
		v("undecided", checkers.Unknown, true, checkers.Unknown), untested,
		v("weak", checkers.Invalid, false, checkers.Unknown), v("open", checkers.Unknown, false, checkers.Unknown),
		v("met", checkers.Invalid, false, checkers.Invalid), v("held", checkers.Valid, true, checkers.Unknown),
	)
	r.Repeat = "recount run --seed 8125"
	_, _, cases := parseJUnit(t, r)
	for name, want := range map[string]string{
		"broken": "failure", "missed": "failure", "undecided": "error", "untested": "skipped", "weak": "skipped", "open": "skipped",
		"met": "", "held": "",
	} {
		for _, outcome := range []string{"failure", "error", "skipped"} {
			found := cases[name].named(outcome)
			if outcome != want {
				require.Empty(t, found, "%s of %s", outcome, name)
				continue
			}
			require.Len(t, found, 1, name)
			require.Contains(t, found[0].attr("message"), "why "+name)
		}
	}
	details := cases["broken"].named("failure")[0].Text
	require.Contains(t, details, "ops 3, 5")
	require.Contains(t, details, "reproduce with: recount run --seed 8125")
}

func TestJUnitSurvivesHostileTexts(t *testing.T) {
	r := pingPong(t)
	r.Verdicts[0].Why = "<failure>&\x00\x1b ]]> \"quoted\""
	_, _, cases := parseJUnit(t, r)
	require.Contains(t, cases["single-leader-per-term"].named("system-out")[0].Text, "<failure>&")
}

func TestJUnitOfARunThatDecidesNothingIsNotGreen(t *testing.T) {
	r := cutShort()
	_, suite, cases := parseJUnit(t, r)
	require.Equal(t, "1", suite.attr("errors"))
	require.Equal(t, Sentence(r), cases["run"].named("error")[0].attr("message"))
	r.Status = record.StatusHeld
	_, _, cases = parseJUnit(t, r)
	require.NotContains(t, cases, "run")
}
