package checkers

import (
	"context"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

var randomSeed = flag.Uint64("random", 0, "print the random history of a seed, and what all checkers say of it")

// randomHistories are as many as testdata/random.txt has lines.
const randomHistories = 500

// logSaid logs a history, and what all checkers say of it.
func logSaid(t *testing.T, text string) {
	h, err := parseHistory(text)
	require.NoError(t, err)
	for _, r := range CheckAll(context.Background(), h) {
		text += fmt.Sprintf("\n%s: %s\n%s", r.Property, r.Why, factsText(h, r))
	}
	t.Log(text)
}

// TestGoldenRandom pins down what all checkers say of histories that nobody thought of: where elections go wrong in many
// ways at once, while faults overlap, fail and are not seen to take effect. What each says is right only as far as the
// golden histories and properties say so; this one notices any change. Look into a line with -run GoldenRandom -random SEED.
func TestGoldenRandom(t *testing.T) {
	if *randomSeed > 0 {
		logSaid(t, randomHistory(*randomSeed))
		return
	}
	text := goldenLines(t, "testdata/random.txt", randomHistories, func(seed uint64) string {
		h, err := parseHistory(randomHistory(seed))
		require.NoError(t, err, "seed %d", seed)
		return letters(h, CheckAll(context.Background(), h))
	})
	require.NotContains(t, text, "crashed")
}

// goldenLines holds what is said of the histories with the seeds from 1 to a file's lines, one each, and returns the file;
// with -update it writes it.
func goldenLines(t *testing.T, file string, count int, said func(seed uint64) string) string {
	b := new(strings.Builder)
	for seed := uint64(1); seed <= uint64(count); seed++ {
		fmt.Fprintf(b, "%d %s\n", seed, said(seed))
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := slices.Collect(strings.Lines(string(want)))
	for i, line := range slices.Collect(strings.Lines(b.String())) {
		require.Equal(t, lines[i], line)
	}
	return string(want)
}

// letters are the first letters of verdicts, with the ops that show what was violated, and a checksum of all figures.
func letters(h *history.History, results []Result) string {
	b := new(strings.Builder)
	sum := crc32.NewIEEE()
	for _, r := range results {
		fmt.Fprint(sum, factsText(h, r))
		switch {
		case r.Property == "linearizable" || r.Property == "ordered-updates": // nothing of theirs is in these histories
		case r.Stack != "":
			b.WriteString(" crashed")
		case r.Untested:
			b.WriteString(" -")
		case r.Verdict == Invalid:
			fmt.Fprintf(b, " i%v", r.Ops)
		default:
			fmt.Fprintf(b, " %s", r.Verdict.String()[:1])
		}
	}
	fmt.Fprintf(b, " %08x", sum.Sum32())
	return b.String()[1:]
}

// chaos draws a history in the notation of testdata/README.md. It keeps what the nodes believe, so that elections mostly
// make sense; how often they do not differs from history to history.
type chaos struct {
	*rand.Rand
	b                     strings.Builder
	nodes                 []string
	believes              []belief
	down, cut             []bool
	term                  int
	leader                int
	since                 int // when the leader was lost
	end                   int // of the run: nothing is told after it
	busy                  int // the nemesis is, until then
	faults                []string
	pace, mess, moody     float64 // how often leaders change for nothing, terms do, answers are odd
	rate                  int     // of the nemesis: one deed in so many steps
	inflation, wild, fast bool
	duel                  bool // two nodes take the leadership from each other
}

// belief is what a node believes.
type belief struct {
	role    string
	term    int
	leader  string
	learns  int // when it hears of the leader, in ms
	silence int // when it campaigns if it is alone
}

func (c *chaos) say(at int, format string, args ...any) {
	fmt.Fprintf(&c.b, "%dms %s\n", at, fmt.Sprintf(format, args...))
}

// one in n.
func (c *chaos) one(n int) bool { return c.IntN(n) == 0 }

func randomHistory(seed uint64) string {
	c := &chaos{Rand: rand.New(rand.NewPCG(seed, 1)), leader: -1}
	n := 3 + c.IntN(3)
	for i := range n {
		c.nodes = append(c.nodes, fmt.Sprintf("n%d", i+1))
		c.believes = append(c.believes, belief{role: "follower"})
	}
	c.down, c.cut = make([]bool, n), make([]bool, n)
	c.pace, c.mess, c.moody = c.Float64()*0.01, c.Float64()*0.2, c.Float64()*0.05
	if c.one(2) {
		c.mess, c.moody = 0, 0
	}
	c.rate = []int{15, 30, 60, 200}[c.IntN(4)]
	if c.duel = c.one(4); c.duel {
		c.pace *= 4
	}
	c.inflation, c.wild, c.fast = c.one(2), c.one(3), c.one(2)
	fmt.Fprintf(&c.b, "nodes %s\n", strings.Join(c.nodes, " "))
	if c.one(8) {
		c.b.WriteString("servers s1 s2 s3\n")
	}
	if !c.one(30) {
		c.b.WriteString("bounds silence=1s elect=4s poll=100ms\n")
	}
	if c.one(6) {
		c.b.WriteString("flags no-terms\n")
	}
	end := 4000 + c.IntN(30)*1000
	c.end = end
	every := []int{100, 100, 100, 300, 700}[c.IntN(5)]
	mute := -1 // a node that is not asked
	if c.one(8) {
		mute = c.IntN(n)
	}
	for now := 0; now < end; now += 50 {
		c.nemesis(now)
		c.elect(now)
		c.write(now)
		for i := range n {
			if (now+i*50)%every < 50 && i != mute && !c.one(300) {
				c.answer(now, i)
			}
		}
	}
	if !c.one(20) {
		c.say(end, "end")
	}
	return c.b.String()
}

// answer asks a node.
func (c *chaos) answer(now, i int) {
	if c.down[i] {
		if c.one(2) {
			fmt.Fprintf(&c.b, "%dms-%dms %s silent\n", now, now+40, c.nodes[i])
		}
		return
	}
	v := c.believes[i]
	if c.Float64() < c.moody {
		switch c.IntN(4) {
		case 0:
			v.term = max(0, v.term+1-c.IntN(3))
		case 1:
			v.role = []string{"leader", "candidate", "follower", "unknown"}[c.IntN(4)]
		case 2:
			v.leader = c.nodes[c.IntN(len(c.nodes))]
		case 3:
			v.role += fmt.Sprintf(" %d torn", v.term+c.IntN(3))
		}
	}
	text := v.role
	if !strings.Contains(text, "torn") {
		text += fmt.Sprintf(" %d", v.term)
	}
	if v.leader != "" && v.role != "candidate" {
		text += " of " + v.leader
	}
	fmt.Fprintf(&c.b, "%dms-%dms %s %s\n", now, now+c.IntN(40), c.nodes[i], text)
}

// become changes what a node believes; it may announce that.
func (c *chaos) become(now, i int, v belief) {
	v.silence = now + 1000 + c.IntN(1000)
	c.believes[i] = v
	if c.one(2) {
		text := fmt.Sprintf("announces %s %d", v.role, v.term)
		if v.leader != "" {
			text += " of " + v.leader
		}
		c.say(now+c.IntN(50), "%s %s", c.nodes[i], text)
	}
}

// elect moves the leadership on.
func (c *chaos) elect(now int) {
	n := len(c.nodes)
	lost := c.leader < 0 || c.down[c.leader] || c.cut[c.leader]
	switch {
	case !lost && c.Float64() < c.pace:
		next := c.IntN(n)
		if c.duel {
			next = 1 - min(c.leader, 1)
		}
		c.win(now, next)
	case lost && c.since == 0:
		c.since = now + 1000 + c.IntN(1500)
		if c.one(10) {
			c.since += 6000
		}
		if c.fast && c.one(3) {
			c.since = now
		}
	case lost && now >= c.since:
		if next := c.IntN(n); !c.down[next] && (!c.cut[next] || c.wild) {
			c.win(now, next)
		}
	}
	for i := range n {
		v := c.believes[i]
		switch {
		case c.down[i]:
		case c.cut[i] && now > v.silence && c.inflation:
			c.become(now, i, belief{role: "candidate", term: v.term + 1})
		case c.cut[i] || c.leader < 0 || i == c.leader:
		case v.learns > 0 && now > v.learns:
			c.become(now, i, belief{role: "follower", term: c.term, leader: c.nodes[c.leader]})
		}
	}
}

func (c *chaos) win(now, next int) {
	if c.down[next] {
		return
	}
	switch {
	case c.Float64() >= c.mess:
		c.term = max(c.term, c.believes[next].term) + 1
	case c.one(2):
		c.term += c.IntN(3)
	}
	for i := range c.nodes {
		if c.one(3) {
			whom := next
			if c.one(6) {
				whom = c.IntN(len(c.nodes))
			}
			c.say(max(0, now-50), "%s votes %d %s", c.nodes[i], c.term, c.nodes[whom])
		}
		c.believes[i].learns = now + 50 + c.IntN(600)
		if i == c.leader {
			c.believes[i].learns += c.IntN(2000)
		}
	}
	if c.one(3) {
		c.become(now, next, belief{role: "candidate", term: c.term})
		now += 20
	}
	c.leader, c.since = next, 0
	c.become(now, next, belief{role: "leader", term: c.term, leader: c.nodes[next]})
	c.believes[next].learns = 0
}

// write has who believes to lead write to the resource.
func (c *chaos) write(now int) {
	for i, v := range c.believes {
		if v.role != "leader" || c.down[i] || !c.one(8) {
			continue
		}
		outcome := ""
		switch {
		case v.term < c.term && !c.one(20):
			outcome = " rejected"
		case c.one(20):
			outcome = []string{" unknown", " rejected", " unended"}[c.IntN(3)]
		}
		fmt.Fprintf(&c.b, "%dms-%dms %s write %d %d%s\n", now, min(now+c.IntN(90), c.end), c.nodes[i], v.term, now+i, outcome)
	}
}

// nemesis injects, changes and heals faults, one after the other.
func (c *chaos) nemesis(now int) {
	if c.one(700) {
		c.say(now, "stall %dms", 100+c.IntN(800))
	}
	if now < c.busy || now < 1000 || !c.one(c.rate) {
		return
	}
	c.busy = now + 50*c.IntN(4)
	outcome := ""
	switch {
	case c.one(12):
		outcome = "; unseen"
	case c.one(20):
		outcome = "; failed"
	case c.one(12):
		outcome = "; untold"
	}
	do := func(verb, name, changes string) {
		fmt.Fprintf(&c.b, "%dms-%dms nemesis %s %s: %s%s\n", now, min(c.busy, c.end), verb, name, changes, outcome)
		c.busy += 50
	}
	if len(c.faults) > 0 && !c.one(3) {
		k := c.IntN(len(c.faults))
		name, changes, _ := strings.Cut(c.faults[k], ":")
		changes = strings.NewReplacer("cut", "join", "slow", "join", "kill", "start", "crash", "start", "pause", "resume",
			"skew", "right").Replace(changes)
		if strings.HasPrefix(name, "flap-link") && !c.one(3) {
			if c.one(2) {
				do("change", name, changes)
			} else {
				_, back, _ := strings.Cut(c.faults[k], ":")
				do("change", name, back)
			}
			return
		}
		do("heal", name, changes)
		c.faults = slices.Delete(c.faults, k, k+1)
		i := slices.Index(c.nodes, strings.Fields(name)[1])
		if outcome != "; failed" {
			c.down[i], c.cut[i] = false, false
			if c.mess > 0.1 && strings.HasPrefix(name, "kill") && c.one(4) {
				c.believes[i] = belief{role: "follower", term: max(0, c.believes[i].term-1)}
			}
			c.believes[i].learns = now + c.IntN(500)
		}
		return
	}
	i := c.IntN(len(c.nodes))
	if c.leader >= 0 && c.one(2) {
		i = c.leader
	}
	a, b := c.nodes[i], c.nodes[(i+1+c.IntN(len(c.nodes)-1))%len(c.nodes)]
	if slices.ContainsFunc(c.faults, func(f string) bool { return strings.Contains(f, " "+a) }) {
		return
	}
	inject := func(name, changes string) {
		c.faults = append(c.faults, name+":"+changes)
		do("inject", name, changes)
	}
	switch c.IntN(10) {
	case 0, 1:
		var cuts []string
		for _, o := range c.nodes {
			if o != a {
				cuts = append(cuts, "cut "+a+"-"+o)
			}
		}
		inject("isolate "+a, strings.Join(cuts, ", "))
		c.cut[i] = outcome != "; failed"
	case 2:
		inject("kill "+a, "kill "+a)
		c.down[i] = outcome != "; failed"
	case 3:
		inject("pause "+a, "pause "+a)
		c.down[i] = outcome != "; failed"
	case 4:
		inject("cut-link "+a+" "+b, "cut "+a+"-"+b)
	case 5:
		inject("flap-link "+a+" "+b, "cut "+a+"-"+b)
	case 6:
		inject("cut-one-way "+a, "cut "+a+">"+b)
	case 7:
		inject("cut-port "+a, "cut "+a+">"+b+":80")
	case 8:
		inject("skew "+a, "skew "+a)
	case 9:
		inject("slow "+a, "slow "+a+"-"+b)
	}
	if c.one(25) && !c.down[i] {
		c.say(c.busy+50, "%s exits", a)
		c.down[i] = true
	}
}
