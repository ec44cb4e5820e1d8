package option

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

var declared = []Option{
	{Name: "name", Default: "x", About: "a text"},
	{Name: "fast", Kind: Bool, Default: "false", About: "a switch"},
	{Name: "scale", Kind: Number, Default: "1.5", About: "a factor"},
	{Name: "wait", Kind: Duration, Default: "150ms", About: "a time"},
	{Name: "how", Kind: Choice, Default: "a", Choices: []string{"a", "b"}, About: "a way"},
	{Name: "rest", Kind: Wait, Default: "0s", About: "a time, or none"},
	{Name: "turn", Kind: Period, Default: "1ms", About: "a time, again and again"},
	{Name: "share", Kind: Percent, Default: "30%", About: "a share"},
	{Name: "speed", Kind: Rate, Default: "1.5mbit", About: "a rate"},
	{Name: "ports", Kind: Ports, Default: "all", About: "some ports"},
	{Name: "shift", Kind: Shift, Default: "-1.5s", About: "a time either way"},
	{Name: "drift", Kind: Drift, Default: "-200ppm", About: "a wrong rate"},
	{Name: "room", Kind: Size, Default: "1.5MiB", About: "a size"},
}

func TestGivenValuesAndDefaults(t *testing.T) {
	v, err := Parse("it", declared, map[string]string{"fast": "true", "how": "b"})
	require.NoError(t, err)
	require.True(t, v.Bool("fast"))
	require.InDelta(t, 1.5, v.Number("scale"), 0)
	require.Equal(t, 150*time.Millisecond, v.Duration("wait"))
	require.Equal(t, "b", v.Value("how"))
	require.Zero(t, v.Duration("rest"))
	require.Equal(t, time.Millisecond, v.Duration("turn"))
	require.InDelta(t, 0.3, v.Percent("share"), 0)
	require.EqualValues(t, 1_500_000, v.Rate("speed"))
	require.Empty(t, v.Ports("ports"))
	require.EqualValues(t, 3<<19, v.Size("room"))
	require.Equal(t, -1500*time.Millisecond, v.Duration("shift"))
	require.InDelta(t, -0.0002, v.Drift("drift"), 1e-12)
	require.Len(t, v.All(), len(declared))
	require.Panics(t, func() { v.Value("other") })
	require.Panics(t, func() { v.Number("name") })
	require.Panics(t, func() { v.Duration("name") })
}

func TestUnits(t *testing.T) {
	v, err := Parse("it", declared, map[string]string{"rest": "10ms", "share": "0.5%", "speed": "64kbit", "ports": "2379,2380"})
	require.NoError(t, err)
	require.Equal(t, 10*time.Millisecond, v.Duration("rest"))
	require.InDelta(t, 0.005, v.Percent("share"), 0)
	require.EqualValues(t, 64_000, v.Rate("speed"))
	require.Equal(t, []int{2379, 2380}, v.Ports("ports"))
	for text, want := range map[string]int64{"1bit": 1, "2gbit": 2e9} {
		v, err := Parse("it", declared, map[string]string{"speed": text})
		require.NoError(t, err)
		require.Equal(t, want, v.Rate("speed"))
	}
	require.Panics(t, func() { v.Percent("speed") })
	require.Panics(t, func() { v.Rate("share") })
	require.Panics(t, func() { v.Ports("share") })
}

func TestValuesThatCannotBe(t *testing.T) {
	for name, values := range map[string][]string{
		"fast": {"yes", ""}, "scale": {"0", "-1", "NaN", "x", "1e300"}, "wait": {"0", "-1s", "5"}, "how": {"c", ""},
		"rest": {"-1s", "5", ""}, "turn": {"0s", "1ns", "999us", "-1s", ""}, "share": {"30", "0%", "101%", "NaN%", "%"}, "speed": {"1", "0bit", "-1kbit", "1mb", "NaNbit", "0.1bit", "1e300gbit"},
		"shift": {"0s", "5", ""}, "drift": {"0%", "-90%", "1001%", "1", "ppm", "NaN%", ""},
		"ports": {"", "0", "65536", "1,", "a", "1,all"},
	} {
		for _, text := range values {
			_, err := Parse("it", declared, map[string]string{name: text})
			require.ErrorContains(t, err, "it: option "+name, text)
			require.Contains(t, hint.Of(err), "default", text)
		}
	}
	_, err := Parse("it", declared, map[string]string{"wiat": "1s"})
	require.ErrorContains(t, err, `unknown option "wiat"`)
	require.Equal(t, `did you mean "wait"?`, hint.Of(err))
	_, err = Parse("it", nil, map[string]string{"wait": "1s"})
	require.Equal(t, "it has no options", hint.Of(err))
}

func TestAnEmptyChoiceIsShown(t *testing.T) {
	_, err := Parse("t", []Option{{Name: "bug", Kind: Choice, Choices: []string{"", "late"}}}, map[string]string{"bug": "foo"})
	require.ErrorContains(t, err, `"foo" is not one of "" (nothing), late`)
}
