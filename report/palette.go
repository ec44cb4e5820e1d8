package report

import (
	"fmt"
	"strconv"
	"strings"
)

// The colours of everything that is drawn. A colour is a node that leads: solid where it leads, a tint of it where others
// follow it, so that agreement can be seen. The first three can be told apart by every kind of colour vision; red is
// kept for what went wrong.

// identities are the colours of leading nodes on a light and on a dark ground, in the order in which they are handed out.
var identities = []struct{ light, dark string }{
	{"#1d6fb8", "#4f9fe6"}, // blue
	{"#c2660a", "#e6953c"}, // orange
	{"#0b7f63", "#35b592"}, // green
	{"#8b4fa9", "#b884d6"}, // purple
	{"#3a9ab8", "#7cc7dd"}, // sky
	{"#8a5a33", "#bf8f62"}, // brown
	{"#6c7a14", "#a9b84a"}, // olive
	{"#4b52b8", "#8b92ee"}, // indigo
}

// LeaderColours is how many leaders have a colour of their own.
var LeaderColours = len(identities)

// colours are named as the style sheets use them, with their values on a light and on a dark ground.
var colours = []struct{ name, light, dark string }{
	{"page", "#f6f7f9", "#0e1116"},
	{"panel", "#ffffff", "#161b22"},
	{"sunken", "#f1f3f6", "#10151b"},
	{"ink", "#1b1f27", "#e6e9ee"},
	{"soft", "#5a6372", "#9aa4b2"},
	{"faint", "#8a93a1", "#6b7584"},
	{"line", "#dfe3e9", "#2b323c"},
	{"hair", "#edf0f3", "#20262f"},
	{"on", "#ffffff", "#0c1016"},      // text on a solid colour
	{"neutral", "#dde2e9", "#2a323d"}, // follows nobody
	{"candidate", "#f2d13c", "#e3c23a"},
	{"on-candidate", "#3d3200", "#1c1700"},
	{"fault", "#4a5261", "#a3adbb"},
	{"broken", "#cc1f2d", "#ff6b6b"},
	{"broken-wash", "#fdf0f0", "#2f191d"},
	{"weak", "#a3246e", "#ee7fb8"},
	{"weak-wash", "#fbf0f6", "#281a26"},
	{"held", "#1a7a4c", "#4cc38a"},
	{"held-wash", "#ecf7f1", "#12291f"},
	{"open", "#5b6472", "#a3adbb"},
	{"open-wash", "#f1f3f6", "#1d232c"},
}

// tint is how much of a leader's colour its followers show.
const tint = 0.24

// ground is one of the two colour schemes.
type ground uint8

const (
	light ground = iota
	dark
)

// variables returns the colours of a scheme by name.
func variables(g ground) (names, values []string) {
	pick := func(l, d string) string {
		if g == dark {
			return d
		}
		return l
	}
	panel := ""
	for _, c := range colours {
		v := pick(c.light, c.dark)
		names, values = append(names, c.name), append(values, v)
		if c.name == "panel" {
			panel = v
		}
	}
	for i, id := range identities {
		v := pick(id.light, id.dark)
		names = append(names, fmt.Sprintf("id%d", i), fmt.Sprintf("tint%d", i))
		values = append(values, v, mix(v, panel, tint))
	}
	return names, values
}

// properties declares a scheme's colours as CSS custom properties.
func properties(g ground) string {
	names, values := variables(g)
	var b strings.Builder
	for i := range names {
		fmt.Fprintf(&b, "--%s:%s;", names[i], values[i])
	}
	return b.String()
}

// resolve puts a scheme's colours in the place of the custom properties of a style sheet, for whoever does not know
// custom properties.
func resolve(css string, g ground) string {
	names, values := variables(g)
	pairs := make([]string, 0, 2*len(names))
	for i := range names {
		pairs = append(pairs, "var(--"+names[i]+")", values[i])
	}
	return strings.NewReplacer(pairs...).Replace(css)
}

// mix is a part of one colour on another.
func mix(over, under string, part float64) string {
	out := "#"
	for i := 1; i < 7; i += 2 {
		a, _ := strconv.ParseUint(over[i:i+2], 16, 8)
		b, _ := strconv.ParseUint(under[i:i+2], 16, 8)
		out += fmt.Sprintf("%02x", int(float64(a)*part+float64(b)*(1-part)+0.5))
	}
	return out
}
