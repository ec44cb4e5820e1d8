package junit

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWriteCounts(t *testing.T) {
	moment := time.Date(2027, 3, 31, 23, 0, 0, 500, time.FixedZone("", 3600))
	all := Suites{Name: "all", Time: Seconds(1500 * time.Millisecond), Suites: []Suite{
		{Name: "first", Time: Seconds(time.Second), Timestamp: Timestamp(moment), Cases: []Case{
			{Class: "c", Name: "held", Time: "0", Out: "a < b"},
			{Class: "c", Name: "broken", Time: "0", Failure: &Outcome{Message: "two leaders", Type: "invalid", Text: "ops 1, 2"}},
			{Class: "c", Name: "not run", Time: "0", Skipped: &Outcome{Message: "no time"}},
		}},
		{Name: "second", Time: Seconds(0), Properties: &[]Property{{"seed", "7"}}, Cases: []Case{
			{Class: "c", Name: "undecided", Time: "0", Error: &Outcome{Message: "nothing was seen"}},
		}},
	}}
	var b strings.Builder
	require.NoError(t, Write(&b, &all))
	require.Equal(t, xml.Header+`<testsuites name="all" tests="4" failures="1" errors="1" skipped="1" time="1.500">
  <testsuite name="first" tests="3" failures="1" errors="0" skipped="1" time="1.000" timestamp="2027-03-31T22:00:00">
    <testcase classname="c" name="held" time="0">
      <system-out>a &lt; b</system-out>
    </testcase>
    <testcase classname="c" name="broken" time="0">
      <failure message="two leaders" type="invalid">ops 1, 2</failure>
    </testcase>
    <testcase classname="c" name="not run" time="0">
      <skipped message="no time"></skipped>
    </testcase>
  </testsuite>
  <testsuite name="second" tests="1" failures="0" errors="1" skipped="0" time="0.000">
    <properties>
      <property name="seed" value="7"></property>
    </properties>
    <testcase classname="c" name="undecided" time="0">
      <error message="nothing was seen"></error>
    </testcase>
  </testsuite>
</testsuites>
`, b.String())
	first := b.String()
	b.Reset()
	require.NoError(t, Write(&b, &all))
	require.Equal(t, first, b.String(), "writing twice counts anew")
}
