package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/virtual/overlay"
	"recount/virtual/wire"
)

// begin starts testdata/node, told to do one thing, at second one of its clock.
func begin(t *testing.T, o Options, does ...string) *Process {
	t.Helper()
	path, err := overlay.Build(t.Context(), overlay.Program{Dir: "..", Package: "./testdata/node"}, func(line string) { t.Log(line) })
	require.NoError(t, err)
	o.Path, o.Args, o.Start = path, does, int64(time.Second)
	o.Host, o.Root = "n1", t.TempDir()
	if o.Stderr == nil {
		o.Stderr = new(bytes.Buffer)
	}
	p, err := Start(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Kill()) })
	return p
}

// goes lets a process go on for so many seconds after its start, and collects what it writes to its standard output until it has ended
// or time is over.
func goes(t *testing.T, p *Process, seconds int) (said string, last Report) {
	t.Helper()
	for until, floor := int64(1+seconds)*int64(time.Second), int64(time.Second); ; {
		r, err := p.Run(Grant{Floor: floor, Horizon: floor + 1})
		require.NoError(t, err)
		for _, m := range r.Messages {
			if m.Type == wire.Output && wire.Get32(m.Data) == 1 {
				said += string(m.Data[4:])
			}
		}
		if r.Ended != nil || r.Next == 0 || r.Next > until {
			return said, r
		}
		floor = r.Next
	}
}

func TestAProcessGoesOnByGrants(t *testing.T) {
	p := begin(t, Options{}, "tick", "3")
	said, r := goes(t, p, 0)
	require.Equal(t, "tick 0\n", said)
	require.EqualValues(t, 2*time.Second, r.Next, "that is when it wants to go on")
	require.NotZero(t, r.Events)
	p.Go(Grant{Floor: r.Next, Horizon: r.Next + 1})
	r, err := p.Wait()
	require.NoError(t, err)
	require.EqualValues(t, 2*time.Second, r.Now)
	require.EqualValues(t, 3*time.Second, r.Next)
}

// Where memory lies that is not of the heap shows in stacks, which servers write to their logs: as arguments, and as what is left of some.
func TestStacksAreTheSame(t *testing.T) {
	var all []string
	for range 3 {
		said, _ := goes(t, begin(t, Options{}, "stacks"), 2)
		require.Contains(t, said, "runtime_pollWait(0x")
		require.Contains(t, said, "os.(*File).Read(")
		require.NotRegexp(t, `0x[0-9a-f]{2,}\?`, said)
		all = append(all, said)
	}
	require.Equal(t, []string{all[0], all[0], all[0]}, all)
}

func TestAGrantMayReachBeyondAnInstant(t *testing.T) {
	p := begin(t, Options{}, "tick", "5")
	r, err := p.Run(Grant{Floor: int64(time.Second), Horizon: int64(3500 * time.Millisecond)})
	require.NoError(t, err)
	var at []int64
	for _, m := range r.Messages {
		at = append(at, m.At/int64(time.Second))
	}
	require.Equal(t, []int64{1, 2, 3}, at, "it goes on by itself until then")
	require.EqualValues(t, 4*time.Second, r.Next)
}

func TestExitStatus(t *testing.T) {
	for does, status := range map[string]int{"exit 0": 0, "exit 7": 7, "panic": 2} {
		stderr := new(bytes.Buffer)
		p := begin(t, Options{Stderr: stderr}, strings.Fields(does)...)
		said, r := goes(t, p, 5)
		require.Equal(t, "before the end\n", said, "what it wrote last is not lost")
		require.NotNil(t, r.Ended, does)
		require.Equal(t, status, r.Ended.ExitCode(), does)
		require.Zero(t, r.Next)
		require.Equal(t, does == "panic", strings.Contains(stderr.String(), "panic: on purpose"))
		_, err := p.Run(Grant{Floor: int64(time.Minute), Horizon: int64(time.Minute) + 1})
		require.ErrorContains(t, err, "has ended")
		require.NoError(t, p.Kill(), "that is not there any more")
	}
}

func TestKill(t *testing.T) {
	p := begin(t, Options{}, "tick", "1000")
	goes(t, p, 2)
	pid := p.cmd.Process.Pid
	require.NoError(t, p.Kill())
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.Equal(t, syscall.SIGKILL, status.Signal())
	require.NoError(t, p.Kill())
	_, err := p.Wait()
	require.ErrorContains(t, err, "has ended")
}

// One that was ended by somebody else, such as the kernel for want of memory, is seen to have ended.
func TestAProcessThatIsKilledByAnother(t *testing.T) {
	p := begin(t, Options{}, "tick", "1000")
	_, r := goes(t, p, 1)
	require.NoError(t, p.cmd.Process.Kill())
	r, err := p.Run(Grant{Floor: r.Next, Horizon: r.Next + 1})
	require.NoError(t, err)
	require.NotNil(t, r.Ended)
	require.Equal(t, syscall.SIGKILL, r.Ended.Sys().(syscall.WaitStatus).Signal())
}

// What it writes comes whole and in order, also where it is more than there is room for in a report.
func TestMoreOutputThanFitsIntoAReport(t *testing.T) {
	const lines = 3 << 10 // of 8 kB: 24 MB
	p := begin(t, Options{}, "lines", "3072")
	said, _ := goes(t, p, 0)
	require.Equal(t, lines, strings.Count(said, "\n"))
	for i, line := range strings.Split(strings.TrimSuffix(said, "\n"), "\n") {
		require.Len(t, line, 8<<10-1, i)
	}
	require.Greater(t, len(said), wire.Area)
}

func TestWhatSpinsIsEndedWithItsStacks(t *testing.T) {
	p := begin(t, Options{Patience: 200 * time.Millisecond}, "loop")
	_, err := p.Run(Grant{Floor: int64(time.Second), Horizon: int64(time.Second) + 1})
	var stuck *Stuck
	require.ErrorAs(t, err, &stuck)
	require.Contains(t, stuck.What, "without coming to rest")
	require.Contains(t, stuck.Stacks, "main.network")
	require.NoError(t, p.Kill())
}

// A call of the operating system that does not return takes no CPU time, and is told apart.
func TestWhatHangsInACallIsEnded(t *testing.T) {
	p := begin(t, Options{Patience: 200 * time.Millisecond}, "open", "/fifo")
	require.NoError(t, syscall.Mkfifo(filepath.Join(p.opts.Root, "fifo"), 0o600))
	_, err := p.Run(Grant{Floor: int64(time.Second), Horizon: int64(time.Second) + 1})
	var stuck *Stuck
	require.ErrorAs(t, err, &stuck)
	require.Contains(t, stuck.What, "a call of the operating system that does not return")
	require.Equal(t, "before the call\n", string(stuck.Wrote), "it was not reported")
}

func TestFitting(t *testing.T) {
	m := wire.Message{Type: wire.Data, Data: make([]byte, wire.MaxData)}
	size := wire.MessageSize(wire.MaxData)
	var many []wire.Message
	for range 2 * wire.Area / size {
		many = append(many, m)
	}
	require.Zero(t, Fitting(nil))
	require.Equal(t, 1, Fitting(many[:1]))
	require.Equal(t, wire.Area/size, Fitting(many))
	require.Equal(t, 1, Fitting([]wire.Message{{Data: make([]byte, wire.Area-wire.MessageHeader)}, {}}), "to the last byte")
}

func TestWhatCannotStart(t *testing.T) {
	_, err := Start(Options{Path: "/none/such", Start: 1, Config: wire.Config{Root: t.TempDir()}})
	require.ErrorContains(t, err, "start /none/such")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Start(Options{Path: "/none/such"})
	require.ErrorContains(t, err, "at a time after 0")
	_, err = Start(Options{Path: "/none/such", Start: 1, Config: wire.Config{Host: "n1\nroot=/"}})
	require.ErrorContains(t, err, "line break")
}
