package docker

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
	"recount/internal/testlong"
	"recount/nemesis"
)

var soak = flag.Duration("soak", 45*time.Second, "for how long TestSoak breaks a cluster")

// A fault every three seconds, of all kinds, overlapping as they like. In the end the cluster is what the nemesis believes,
// before it is healed and after; and nothing has been left behind anywhere: no process, rule, mount, container, goroutine or
// open file.
func TestSoak(t *testing.T) {
	testlong.Only(t)
	e := engine(t)
	c := open(t, e, runID(t), 5)
	c.config.Clocks = true
	launch(t, c)
	recorder := history.NewRecorder(nil, 0)
	views := nemesis.NewViews(c.names, recorder)
	rnd := rand.New(rand.NewPCG(uint64(*soak), 7))
	n := nemesis.New(c, recorder, views, rnd)
	ended := map[string]bool{}
	c.OnExit(func(node string, code int) { t.Errorf("%s ended by itself with status %d", node, code) })
	elections(c, recorder, rnd)
	run(t, c, after(c, 100*time.Millisecond))

	var faults []string
	for _, f := range nemesis.All() {
		if f.Name != "cut-clients" && !f.Asks && !f.Members && !f.Own && !f.Events && (!f.Disks || f.Name == "crash") { // there are no clients, and these disks are the engine's own
			faults = append(faults, f.Name)
		}
	}
	schedule, err := nemesis.Generate(faults, nemesis.Pace{Within: *soak, Gap: 2700 * time.Millisecond, Hold: 2500 * time.Millisecond, Silence: time.Second}, rnd)
	require.NoError(t, err)
	require.NoError(t, schedule.Check(c.names))
	before := count(t, c)
	n.Start(schedule)
	require.NoError(t, c.Run(t.Context(), c.Now()+*soak))
	believed(t, c, n, ended)

	healed := false
	n.Heal(func() { healed = true })
	run(t, c, func() bool { return healed })
	require.True(t, n.Holds().Empty())
	believed(t, c, n, ended)
	for _, name := range c.names {
		eventually(t, c, name)
		requireWall(t, c, name, 0)
		for _, other := range c.names {
			require.Equal(t, "ok", tell(t, c, name, "connect %s", address(c, other)), "%s to %s", name, other)
		}
	}
	var now map[string]int
	for limit := c.Now() + within; ; time.Sleep(100 * time.Millisecond) {
		now = count(t, c)
		if !slices.ContainsFunc(slices.Collect(maps.Keys(now)), func(what string) bool { return now[what] > before[what]+slack[what] }) {
			break
		}
		require.Less(t, c.Now(), limit, "before: %v\nafter:  %v", before, now)
	}
	t.Logf("before: %v\nafter:  %v", before, now)
	tally(t, recorder, len(schedule))
}

// slack is by how many some things may be more than before: a runtime has its own ideas of them.
var slack = map[string]int{"goroutines": 5, "open files": 5, "open files of the agent": 10, "threads of the agent": 20}

// elections says now and then that another node leads, and who has voted for it.
func elections(c *Cluster, r *history.Recorder, rnd *rand.Rand) {
	term := uint64(0)
	var next func()
	next = func() {
		term++
		leader := c.names[rnd.IntN(len(c.names))]
		for _, name := range c.names {
			v := history.View{Role: history.Follower, Term: term, Leader: leader}
			if name == leader {
				v.Role = history.Leader
			}
			r.Append(history.Op{Time: c.Now(), Type: history.OK, F: history.Granted, Node: name, Vote: history.Vote{Term: term, For: leader}})
			r.Append(history.Op{Time: c.Now(), Type: history.OK, F: history.Announce, Node: name, View: v})
		}
		c.After(2*time.Second, next)
	}
	c.After(0, next)
}

// believed requires that the cluster is what the nemesis believes, once it is at rest.
func believed(t *testing.T, c *Cluster, n *nemesis.Nemesis, ended map[string]bool) {
	t.Helper()
	differs := "the nemesis was never at rest"
	for limit := c.Now() + within; differs != "" && c.Now() < limit; {
		if n.Idle() {
			state, err := c.State(t.Context())
			require.NoError(t, err)
			differs = nemesis.Compare(n.Holds(), state, ended)
		}
		require.NoError(t, c.Run(t.Context(), c.Now()+time.Millisecond))
	}
	require.Empty(t, differs)
}

// count counts all that might be left behind.
func count(t *testing.T, c *Cluster) map[string]int {
	t.Helper()
	api := c.engine.api
	all := map[string]int{"goroutines": runtime.NumGoroutine(), "open files": entries("/proc/self/fd")}
	containers, rest, err := c.engine.things(t.Context(), c.config.Run)
	require.NoError(t, err)
	all["containers"], all["networks and volumes"] = len(containers), len(rest)
	for _, name := range c.names {
		for _, id := range append([]string{c.nodes[name].anchor}, c.nodes[name].containers...) {
			top, err := api.ContainerTop(t.Context(), id, nil)
			require.NoError(t, err)
			all["processes"] += len(top.Processes)
			is, err := api.ContainerInspect(t.Context(), id)
			require.NoError(t, err)
			all["mounts"] += lines(fmt.Sprintf("/proc/%d/mountinfo", is.State.Pid))
		}
	}
	is, err := api.ContainerInspect(t.Context(), c.name("agent"))
	require.NoError(t, err)
	all["open files of the agent"] = filesOf(is.State.Pid) // none where the engine is elsewhere
	all["threads of the agent"] = entries(fmt.Sprintf("/proc/%d/task", is.State.Pid))
	state, err := c.State(t.Context())
	require.NoError(t, err)
	all["rules"] = len(state.Links)
	return all
}

// filesOf counts the files that the agent has open, but for one for each thread that a node has just now.
func filesOf(agent int) (n int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", agent))
	for _, f := range files {
		to, err := os.Readlink(f)
		if _, gone := os.Stat(to); err == nil && (!strings.HasSuffix(to, "/schedstat") || gone != nil) {
			n++
		}
	}
	return n
}

func entries(dir string) int {
	list, _ := os.ReadDir(dir)
	return len(list)
}

func lines(path string) int {
	b, _ := os.ReadFile(path)
	return strings.Count(string(b), "\n")
}

// tally looks through what the nemesis did. Steps may have waited in vain for nodes that they could mean.
func tally(t *testing.T, r *history.Recorder, steps int) {
	h, err := r.History()
	require.NoError(t, err)
	done := map[string]int{}
	injected := map[int]bool{}
	var spreads []time.Duration
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Process != history.Nemesis || op.Type == history.Invoke {
			continue
		}
		done[fmt.Sprintf("%v %s", op.Type, op.F)]++
		injected[op.Fault.ID] = true
		if len(op.Fault.Links) > 0 && op.Type == history.OK {
			spreads = append(spreads, op.Fault.Spread)
		}
		if op.Type == history.Fail {
			waited := strings.HasPrefix(op.Error, "no node to be") || strings.Contains(op.Error, "was seen from")
			require.True(t, waited, "%s %s of %v: %s", op.F, op.Fault.Name, op.Fault.Nodes, op.Error)
		}
		if op.Type == history.Info {
			t.Logf("%s %s of %v: %s", op.F, op.Fault.Name, op.Fault.Nodes, op.Error)
		}
	}
	require.Len(t, injected, steps)
	t.Logf("%d faults in %v: %v; links changed within %.2f ms of each other, median", steps, *soak, done, median(spreads))
}
