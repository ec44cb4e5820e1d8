package nemesis

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/internal/option"
)

var update = flag.Bool("update", false, "write the faults into docs/faults.md")

const (
	docsBegin = "-run Docs -update -->\n"
	docsEnd   = "<!-- end -->"
)

func TestDocsAreOfTheRegistry(t *testing.T) {
	path := filepath.Join("..", "docs", "faults.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), docsBegin)
	require.True(t, found)
	_, after, found := strings.Cut(rest, docsEnd)
	require.True(t, found)
	want := before + docsBegin + docs(t) + docsEnd + after
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "write it with: go test ./nemesis -run Docs -update")
}

// disksAbout says what a disk that can fail keeps, and what it costs. docker/agent/disk says it to those who read the code.
const disksAbout = `Of a node's data volume; in simulation, of what an algorithm stores. A run whose schedule has one of these, or crash, puts the
nodes' data on disks that can fail. In containers that is a file system in the memory of the run's agent, of at most 1 GiB a
node, which the image's own data folder is served from through FUSE: the image is unmodified, mapped files and locks included,
and the engine may be a remote one. A write takes 14 µs instead of 3, a sync 10 µs instead of the disk's own 135
(` + "`go test ./docker -run xxx -bench Disk`" + `). Where the engine does not let Recount use FUSE, such a run fails before it
begins; ` + "`recount doctor --try`" + ` tells.

What survives when a machine dies is the least that ext4, XFS and Btrfs keep, all three:

- of a file, the bytes and the length that it had at its last sync (fsync, fdatasync, msync, O_SYNC);
- of names, the changes (create, rename, link, unlink) that a sync forced: that of a file those of its own name and of the folders
  above it, that of a folder all in it; and what those changes built upon. All others are undone. So a file that was written and
  renamed over another without a sync of the folder is the old one again, and one that was never synced is gone or empty;
- owners and modes, always. syncfs and sync sync nothing.

With torn, the machine dies in the midst of a write: of the last one that was not synced some sectors of 512 bytes are on the disk,
the first ones or any, as drawn, at least one and not all. A sector is written whole, with all that the file has in it by then; so
a write within one is there or not. With scattered, any part of all that was not synced is on the disk, as drawn, each with one chance in two: a page of
4 KiB of a file, its length (what was not written of it then reads as zeros), a change of names, with those that it builds upon. A kernel writes all of that back
by itself, in an order that no program knows: a file may be renamed over another and be empty, and of two that were written the second alone be new. What was
synced is as it was, and whoever syncs before he tells anybody has nothing to fear. A disk so left does what it is asked: a server that ends over what it finds there when it is
started again breaks ` + "`stays-up`" + `. In simulation what an algorithm writes is whole, and is lost.

A disk that a node does not use hurts nobody. In containers nobody can tell whether such a fault takes effect as long as nothing in the node's
folder of data was ever read or written, in virtual time as long as no process of the node has written or synced a file: a run whose faults
were all of this kind is unknown, and says so. So it is, in containers, with a crash.

A sync that failed has written nothing, and no later one writes what it left out, as on Linux. A full disk takes what
overwrites, and what goes into room that was allocated before. While a file is synced, writes to it wait. A node whose
process ends over its disk, as etcd's does over a failed sync, is started again when the disk is healed. In simulation every
algorithm ends so: its process stops at the operation that failed.`

// processesAbout says what a share of a processor is.
const processesAbout = `A process that is killed keeps what it wrote to its disk, and an address that it gave its machine. A machine that dies keeps no such address.

A node that stands still as a whole is asked in vain, also for what is its kernel's and not its process's: an address that it has taken stays
there, and nobody sees it. Where that is what leads, say what the server's processes are called (processes, [targets.md](targets.md)), and have
one of those stand still (pause leader/NAME): the rest of the node answers.

A node that is throttled gets its share anew every 100 ms. In containers that is a quota of the kernel's scheduler on the control group
of each of the node's containers (version 1 or 2, whichever the engine's machine has): who wants less than its share notices nothing,
and who wants more is held back. It was seen to take effect when the kernel tells of the quota that was asked for, and the node was
held back by it, or used no more than it allows for 300 ms. The quota is lifted for a node to die; when it is started again while it
is throttled, it has its share from a moment after that on. That it waits for its processor is then no stall of the machine. In
simulation and in virtual time, where computing takes no time, the node works at the beginning of every 100 ms of the run's
clock, for as long as its share is, and stands still for the rest: its timers fire late, and packets wait. An election whose
timeouts are much longer than that hardly notices; one in containers may, since there work takes time.`

// memoryAbout says what becomes of a node without memory.
const memoryAbout = `

A node whose memory is squeezed has a limit on that of each of its containers, by their control groups: of what the containers use as
the fault comes, without the caches of files that they have not touched for a while, or of so many bytes. The kernel takes back what
it can, and where a node wants more, it ends a process. That is an exit that the fault excuses, and says so; the node is started again
when the fault is healed. Version 1 of control groups takes no limit that is less than what it can take back at once: a node that is
to have less has that. What an earlier life of the node might use, a later one may while the fault lasts.`

// clocksAbout says what a clock that errs does to waits. docker/agent/clock says it to those who read the code.
const clocksAbout = `The wall clock jumps and drifts, the monotonic clock drifts and never goes back. The harness's own clocks and those of
the machine are never touched.

In virtual time a node's waits go by its own clocks. In containers a program reads clocks that err, while the kernel, which
waits for it, goes by those that are right:

| a wait | of which programs, say | while clocks err |
|---|---|---|
| until the program's own clock says so | all of Go's | as with a clock that errs |
| that tells the kernel how long | C's ` + "`nanosleep`" + ` | as with a clock that is right |
| that tells the kernel until when | Java's and Python's, Erlang's; C's ` + "`pthread_cond_timedwait`" + ` | wrong by as much as the clock was when it began |

The last is what no real clock does. So a drift ends by slewing: the clocks run too slow, or too fast, until they are right,
mostly for up to 5 s, and 20 s at most (a monotonic clock that has gained more than 18 s keeps the rest); the fault is over then, and so are the waits that it made too long, and steps whose time came meanwhile are next. After a jump of the
wall clock those may go on that wait for a time of day. Where such waits are seen while clocks err, the history says by how much
they went wrong, and what a checker would hold against a node for being late is ` + "`unknown`" + `.`

// requestsAbout says what is asked of nodes.
const requestsAbout = `What operators ask of an election, at a bad time: in the middle of other faults. A client asks, and its op in the history is
` + "`resign`" + `; checkers hold it against nobody that a leader goes that was asked to. It took effect if the node said that it led and would
hand over; it did not if the node said that it did not lead; nobody knows if it gave no answer for as long as the target bears
silence. It heals at once: nothing is left to take back. Whether an election can be asked, [targets.md](targets.md#hand-over) says.`

// ownAbout says what faults targets describe themselves.
const ownAbout = `What a target's description calls a fault: a request by which a node begins it, and one by which it ends it, such as to a failpoint, to a
debugging port, or of a command that takes a backup. [targets.md](targets.md#faults-of-your-own) has the field. It took effect if the node said so, and did not if the node refused; nobody
knows if it gave no answer. What it makes of the node nobody knows: as long as it lasts, nothing is due from the node, and no end of its process is held against it;
what nodes say is judged as ever. A node whose process ended meanwhile is started again with the healing. The fault ends with the process that has it: that nobody listens there any more, or that the next process refuses to end it, heals it, too. A heal that fails else is tried again every 2 s, and
the last thing at the end of the run, up to five times.`

// membersAbout says how members are changed.
const membersAbout = `Who is a member, as the cluster itself has it. A client asks for each change as an administrator would, the leader first and then
the other voters that run; its op in the history is ` + "`reconfigure`" + `, with whom, as what (` + "`voter`, `learner`, `removed`" + `), and the time
from the question to the answer. What is not refused for good is asked for again, for two silences and 2 s. It took effect if who was
asked said so, whatever all others say: they are waited for, for a silence at most, and who was added has to say it itself. It did not if all who were
asked refused; nobody knows if one gave no answer, and then the node may vote or not until a later change is known.

Who was taken out never comes back as who it was: its process is ended, and the next one has nothing on its disk, and a new identity where
the system gives members one. A process that was taken out may end by itself, as etcd's does, or go on and not know: neither breaks a promise.
A node comes back when nothing else keeps its process from running. Where healing does not work, for want of a majority say, it is tried again
every 2 s, and the last thing at the end of the run, up to five times. Checkers count majorities by [who votes when](rules.md#who-votes). Which targets can
change their members, [targets.md](targets.md#members) says; a run with another target is refused.`

// docs are all faults, with an example each, under what they befall.
func docs(t *testing.T) string {
	groups := []struct{ name, about string }{
		{"Links", "Between ordered pairs of nodes, any combination at once. Each takes `ports`, too: only packets from or to these TCP or UDP\n" +
			"ports, such as `with: {ports: \"2380\"}`, the election's, so that clients still reach the node. Simulated nodes speak over port 7000\n" +
			"alone: there, a fault of other ports does not take effect."},
		{"Processes", processesAbout + memoryAbout},
		{"Clocks", clocksAbout},
		{"Messages and moments", "Aimed at what happens, and not at a time: at the n-th message of a kind, or at the middle of what a node does in answer to\n" +
			"one. Simulated clusters have them all, real servers two of them: a scenario with another is refused there. Kinds\n" +
			"go by the names that the algorithm's source gives them, and each op `change` of\n" +
			"such a fault says in `after` what it caught. They are drawn where they are named, and by hunts. What rests on links that\n" +
			"deliver in time is not promised while single messages are lost, late or repeated. One that never caught anything has not\n" +
			"taken effect: its op `heal` says in `idle` what it waited for, and in simulation which kinds of messages there were.\n\n" +
			"Real servers do not say what their messages mean. There `crash-within` and `hold-message` take messages of any kind: each\n" +
			"packet that carries data from one machine to another is one. A packet that is held has all wait behind it that is sent later over its\n" +
			"connection, as TCP has an order; other connections go on. A node can end in the middle of what follows from a packet that it receives\n" +
			"or sends; what it does is each packet with data, and each change or sync of a file: of its processes, nothing that they do after is kept or sent.\n\n" +
			"In containers, packets count as they arrive, and what befalls disks only where a node's data is on one (`data` in a spec). With\n" +
			"`machine: true` nothing that the node does after is kept or sent, as above; otherwise its processes are killed within a fraction of a\n" +
			"millisecond, and what they did meanwhile stays. What a held packet waits for is noticed when nodes are asked, or write it to their logs."},
		{"Requests", requestsAbout},
		{"Members", membersAbout},
		{"A target's own", ownAbout},
		{"Clients", "The way between a node and those who ask it, and the resource that leaders write to. The nodes do not notice."},
		{"Disks", disksAbout},
	}
	sections := map[string]*strings.Builder{}
	for _, f := range All() {
		name := group(t, f)
		if sections[name] == nil {
			sections[name] = &strings.Builder{}
		}
		document(t, sections[name], f)
	}
	var all strings.Builder
	for _, g := range groups {
		require.NotNil(t, sections[g.name], g.name)
		fmt.Fprintf(&all, "\n## %s\n\n%s\n%s", g.name, g.about, sections[g.name])
	}
	all.WriteString("\n## Words and cues\n\n| word | the nodes that it means when the fault fires |\n|---|---|\n")
	for _, w := range Words() {
		fmt.Fprintf(&all, "| `%s` | %s |\n", w[0], w[1])
	}
	all.WriteString("\n| cue (`after`) | comes when |\n|---|---|\n")
	for _, c := range Cues() {
		fmt.Fprintf(&all, "| `%s` | %s |\n", c[0], c[1])
	}
	return all.String() + "\n"
}

// group is what a fault befalls first of all.
func group(t *testing.T, f *Fault) string {
	values, err := option.Parse(f.Name, f.Options, nil)
	require.NoError(t, err)
	s := Scene{All: []string{"n1", "n2", "n3", "n4", "n5"}, Options: values, Rand: rand.New(rand.NewPCG(1, 2))}
	for i := range f.Aims {
		s.Aims = append(s.Aims, s.All[i:i+1])
	}
	switch p := f.Shape(s).Phases[0]; {
	case f.Events:
		return "Messages and moments"
	case f.Own:
		return "A target's own"
	case f.Asks:
		return "Requests"
	case f.Members:
		return "Members"
	case len(p.Clients) > 0:
		return "Clients"
	case f.Clocks:
		return "Clocks"
	case len(p.Disks) > 0 || f.Disks && len(p.Links) == 0:
		return "Disks"
	case len(p.Procs) > 0 || len(p.CPUs()) > 0 || len(p.Memories()) > 0 || p.Then != nil:
		return "Processes"
	}
	return "Links"
}

func document(t *testing.T, w *strings.Builder, f *Fault) {
	about := strings.ToUpper(f.About[:1]) + f.About[1:]
	fmt.Fprintf(w, "\n### %s\n\n%s.\n\n", f.Name, strings.TrimSuffix(about, "."))
	example := Step{At: 5 * time.Second, Fault: f.Name, For: 10 * time.Second, With: map[string]string{}}
	var words, with []string
	for _, a := range f.Aims {
		if a.Default == "" {
			fmt.Fprintf(w, "- %s: nobody in particular unless the step names somebody\n", a.What)
			continue
		}
		words = append(words, a.Default)
		fmt.Fprintf(w, "- %s: `%s` unless the step names another\n", a.What, a.Default)
	}
	for _, o := range f.Options {
		if o.Name == ports.Name {
			continue // said once, of all of them
		}
		if f.Own {
			o.Default = "stuck"
		}
		fmt.Fprintf(w, "- `%s: %s`: %s (%s)\n", o.Name, o.Default, o.About, o.Takes())
		with = append(with, o.Name+": "+o.Default)
		example.With[o.Name] = o.Default
	}
	example.Nodes = words
	require.NoError(t, Schedule{example}.Check([]string{"n1", "n2", "n3"}))
	line := "{at: 5s, fault: " + f.Name
	if len(words) > 0 {
		line += fmt.Sprintf(", nodes: [%s]", strings.Join(words, ", "))
	}
	if len(with) > 0 {
		line += fmt.Sprintf(", with: {%s}", strings.Join(with, ", "))
	}
	if len(words)+len(with) > 0 {
		w.WriteString("\n")
	}
	if !f.Asks {
		line += ", for: 10s"
	}
	fmt.Fprintf(w, "```yaml\n- %s}\n```\n", line)
}
