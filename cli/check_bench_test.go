package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"recount/history"
)

// BenchmarkCheck judges a history of five million ops from its file by all properties, in a process of its own, and
// reports how long that took, of which CPU, and how much memory at most.
func BenchmarkCheck(b *testing.B) {
	dir := b.TempDir()
	file := filepath.Join(dir, "history.jsonl")
	const ops = 5_000_000
	writeLong(b, file, ops)
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	recount := filepath.Join(dir, "recount") // the name by which TestMain knows that it is to be the program
	if err := os.Symlink(self, recount); err != nil {
		b.Fatal(err)
	}
	var most int64
	var cpu time.Duration
	for b.Loop() {
		cmd := exec.CommandContext(context.Background(), recount, "check", file)
		out, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() > 2 {
			b.Fatalf("%v\n%s", err, out)
		}
		if testing.Verbose() {
			b.Logf("status %d\n%s", cmd.ProcessState.ExitCode(), out)
		}
		usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		most = max(most, usage.Maxrss<<10)
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/file")
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/file")
	b.ReportMetric(float64(ops*b.N)/b.Elapsed().Seconds(), "ops/s")
	b.ReportMetric(float64(most)/(1<<30), "GiB")
}

// writeLong writes a history of so many ops: five nodes that are asked every 20 ms, a follower that is isolated every half
// a minute for ten seconds, a leader that is killed every five minutes, leaders that write, and clients of a register.
func writeLong(b *testing.B, path string, ops int) {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	l := long{w: w}
	l.write(ops)
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}

type long struct {
	w     *bufio.Writer
	n     int
	now   time.Duration
	buf   []byte
	down  int // the node that is killed, -1 for none
	alone int // the node that is isolated
	term  uint64
	lead  int
	value int64
}

func (l *long) add(op history.Op) {
	op.Index, op.Time = l.n, l.now
	l.n++
	l.now += 50 * time.Microsecond
	l.buf = append(op.AppendJSON(l.buf[:0]), '\n')
	l.w.Write(l.buf) // its first error stays until Flush
}

func (l *long) write(ops int) {
	const nodes = 5
	name := func(i int) string { return fmt.Sprintf("n%d", i+1) }
	var names []string
	for i := range nodes {
		names = append(names, name(i))
	}
	l.add(history.Op{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: &history.Setup{
		Version: "bench", Target: "raft", Cluster: "sim", Nodes: names,
		Bounds: history.Bounds{Silence: 300 * time.Millisecond, Elect: 2 * time.Second, Poll: 20 * time.Millisecond},
	}})
	l.down, l.alone, l.term = -1, -1, 1
	id := 0
	nemesis := func(f history.F, fault *history.Fault) {
		l.add(history.Op{Process: history.Nemesis, Type: history.Invoke, F: f, Fault: fault})
		l.add(history.Op{Process: history.Nemesis, Type: history.OK, F: f, Fault: fault})
	}
	isolation := func(node int, cut bool) *history.Fault {
		t := &history.Fault{ID: id, Name: "isolate", Nodes: []string{name(node)}}
		for i := range nodes {
			if i != node {
				t.Links = append(t.Links, history.Link{From: name(i), To: name(node), LinkState: history.LinkState{Cut: cut}},
					history.Link{From: name(node), To: name(i), LinkState: history.LinkState{Cut: cut}})
			}
		}
		return t
	}
	proc := func(node int, s history.ProcState) *history.Fault {
		return &history.Fault{ID: id, Name: "kill", Nodes: []string{name(node)}, Changes: history.Changes{Procs: []history.Proc{{Node: name(node), State: s}}}}
	}
	for round := 0; l.n < ops-100; round++ {
		l.now = max(l.now, time.Duration(round)*20*time.Millisecond)
		switch round % 1500 {
		case 500:
			id++
			l.alone = (l.lead + 1) % nodes
			nemesis(history.Inject, isolation(l.alone, true))
		case 1000:
			nemesis(history.Heal, isolation(l.alone, false))
			l.alone = -1
		}
		switch round % 15000 {
		case 1200:
			id++
			l.down = l.lead
			nemesis(history.Inject, proc(l.down, history.Down))
			l.lead, l.term = (l.lead+1)%nodes, l.term+1
			for i := range nodes {
				if i != l.down {
					l.add(history.Op{Process: history.Process(i), Type: history.OK, F: history.Granted, Node: name(i), Vote: history.Vote{Term: l.term, For: name(l.lead)}})
				}
			}
			l.add(history.Op{Process: history.Process(l.lead), Type: history.OK, F: history.Announce, Node: name(l.lead),
				View: history.View{Role: history.Leader, Term: l.term, Leader: name(l.lead), Tenure: l.term}})
		case 1300:
			nemesis(history.Heal, proc(l.down, history.Up))
			l.down = -1
		}
		for i := range nodes {
			if i == l.down {
				continue
			}
			op := history.Op{Process: history.Process(i), Type: history.Invoke, F: history.Observe, Node: name(i)}
			l.add(op)
			op.Type, op.View = history.OK, history.View{Role: history.Follower, Term: l.term, Leader: name(l.lead)}
			if i == l.lead {
				op.View.Role, op.View.Tenure = history.Leader, l.term
			}
			l.add(op)
		}
		if round%5 == 0 {
			l.value++
			op := history.Op{Process: 10, Type: history.Invoke, F: history.Write, Node: name(l.lead), Access: history.Access{Token: l.term, Value: l.value}}
			l.add(op)
			op.Type = history.OK
			l.add(op)
			word := fmt.Sprint(l.value)
			l.add(history.Op{Process: 11, Type: history.Invoke, F: history.Put, Reg: &history.Register{Value: word}})
			l.add(history.Op{Process: 12, Type: history.Invoke, F: history.Get})
			l.add(history.Op{Process: 11, Type: history.OK, F: history.Put, Reg: &history.Register{Value: word}})
			l.add(history.Op{Process: 12, Type: history.OK, F: history.Get, Reg: &history.Register{Value: word}})
			for i := range nodes {
				if i != l.lead && i != l.alone && i != l.down {
					l.add(history.Op{Process: history.Process(i), Type: history.OK, F: history.Apply, Node: name(i), Value: &history.Update{Term: l.term, Counter: uint64(l.value), From: name(l.lead)}})
				}
			}
		}
	}
	l.add(history.Op{Process: history.Harness, Type: history.OK, F: history.End})
}
