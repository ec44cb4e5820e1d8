package specfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/targets"
)

const alarming = `image: a
ports: {http: 80}
times: {silence: 1s}
observe: {http: /, role: role}
alarms: ['assertion failed', '^two leaders in term \d+']
sometimes: ['stepped down', '^snapshot \d+']
promises: [{property: no-alarm, while: disks are whole, suspended: {disks: [refuse]}}]
`

func TestLinesThatAreAlarms(t *testing.T) {
	s := parse(t, alarming)
	target := s.Target("a.yaml")
	require.True(t, target.Alarms)
	y, _ := driver(t, s, nil).(election.Alarmer)
	require.True(t, y.Alarms("12:00 assertion failed: x"))
	require.True(t, y.Alarms("two leaders in term 7"))
	require.False(t, y.Alarms("never two leaders in term 7"))

	hoped := driver(t, s, nil).(election.Sometimes).Sometimes()
	require.Len(t, hoped, 2)
	require.Equal(t, `^snapshot \d+`, hoped[1].String())

	var promised []string
	for _, p := range target.AllPromises() {
		promised = append(promised, p.Property)
	}
	require.Equal(t, []string{targets.NoAlarm, targets.StaysUp}, promised)
	unlisted := parse(t, strings.Split(alarming, "promises")[0]).Target("a.yaml").AllPromises()
	require.Equal(t, targets.NoAlarm, unlisted[1].Property, "who has alarms promises that there are none")
	require.Len(t, parse(t, founding).Target("a.yaml").AllPromises(), 1)
}

func TestMistakesInLines(t *testing.T) {
	for _, c := range [][3]string{
		{`'^two leaders in term \d+'`, `'(two'`, "error parsing regexp"},
		{`'^two leaders in term \d+'`, `'.*'`, "matches every line"},
		{`'^two leaders in term \d+'`, `'{{.Name}} panics'`, "is a pattern, and no template"},
		{`'stepped down'`, `''`, "sometimes: `` matches every line"},
		{`alarms: ['assertion failed', '^two leaders in term \d+']`, "", "no-alarm, and no line of a log is one"},
	} {
		require.Contains(t, alarming, c[0])
		_, err := Parse("a.yaml", []byte(strings.Replace(alarming, c[0], c[1], 1)))
		require.ErrorContains(t, err, c[2])
	}
}
