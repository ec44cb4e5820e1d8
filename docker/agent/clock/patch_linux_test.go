//go:build amd64 || arm64

package clock

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"recount/internal/testlong"
)

func patched(t testing.TB, pid int) *Patch {
	p, err := Install(pid, Timeline{}, within)
	require.NoError(t, err)
	return p
}

func turn(t testing.TB, p *Patch, s Skew) {
	_, err := p.Turn(s)
	require.NoError(t, err)
}

// measured has the program read its clocks, which are wrong as they are to be.
func measured(t testing.TB, p *Patch) (Sample, Timeline) {
	sample, err := p.Measure(within)
	require.NoError(t, err)
	line, err := p.Timeline()
	require.NoError(t, err)
	require.NoError(t, sample.Check(line))
	return sample, line
}

// heal ends all errors and waits until there are none.
func heal(t testing.TB, p *Patch) {
	turn(t, p, Skew{})
	for {
		line, err := p.Timeline()
		require.NoError(t, err)
		left := line.Settled(Now())
		if left == 0 {
			break
		}
		time.Sleep(left)
	}
	line, err := p.Timeline()
	require.NoError(t, err)
	require.Zero(t, line.Wall(Now()))
	require.Zero(t, line.Monotonic(Now()))
}

func TestProgramsSeeTheSkew(t *testing.T) {
	inEveryLanguage(t, func(t *testing.T, p *program) {
		p.requireWall("read", 0, time.Microsecond)
		patch := patched(t, p.pid())
		p.requireWall("read", 0, time.Microsecond)

		turn(t, patch, Skew{Offset: 30 * time.Second})
		p.requireWall("read", 30*time.Second, time.Microsecond)
		turn(t, patch, Skew{Offset: -time.Hour})
		p.requireWall("read", -time.Hour, time.Microsecond)
		turn(t, patch, Skew{})
		p.requireWall("read", 0, time.Microsecond)

		turn(t, patch, Skew{Drift: 0.5})
		time.Sleep(2 * Lead)
		a := p.read("read")
		time.Sleep(100 * time.Millisecond)
		b := p.read("read")
		// Each clock drifts by what its real one tells: the machine's wall clock may itself be stepped or slewed meanwhile.
		for id, passed := range map[int]int64{realtime: b.wall - a.wall, monotonic: b.monotonic - a.monotonic} {
			least, most := b.before[id]-a.after[id], b.after[id]-a.before[id]
			require.GreaterOrEqual(t, float64(passed), 1.5*float64(least), "clock %d", id)
			require.LessOrEqual(t, float64(passed), 1.5*float64(most), "clock %d", id)
		}
		heal(t, patch)
		p.requireWall("read", 0, time.Microsecond)
		a = p.read("read")
		b = p.read("read")
		require.LessOrEqual(t, b.monotonic-a.monotonic, b.after[monotonic]-a.before[monotonic]+1000, "it drifts no more")
		p.requireTicks()
	})
}

func TestEveryWayToAskForTheTime(t *testing.T) {
	p := start(t, "static C")
	patch := patched(t, p.pid())
	for _, offset := range []time.Duration{0, time.Hour, -30 * time.Second, -1500 * time.Millisecond} {
		turn(t, patch, Skew{Offset: offset})
		p.requireWall("seconds", offset, time.Microsecond)
		s := p.read("seconds")
		asking := (s.after[monotonic] - s.before[monotonic]) / 1e9 // seconds, on a busy machine
		require.InDelta(t, s.wall/1e9, s.monotonic/1e9, float64(1+asking), "time() tells the seconds of gettimeofday()")
		p.requireWall("coarse", offset, 500*time.Millisecond) // a tick of the kernel, which may come late
	}
}

// 200 faults at random times leave a program whole, and with true clocks.
func TestProgramsSurviveManyFaults(t *testing.T) {
	testlong.Only(t)
	inEveryLanguage(t, func(t *testing.T, p *program) {
		rnd := rand.New(rand.NewPCG(3, 14))
		patch := patched(t, p.pid())
		for range 200 {
			s := Skew{Offset: time.Duration(rnd.Int64N(int64(2*time.Hour))) - time.Hour, Drift: rnd.Float64()/5 - 0.1}
			switch rnd.IntN(4) {
			case 0:
				s.Drift = 0
			case 1:
				s.Offset = 0
			case 2:
				s = Skew{}
			}
			turn(t, patch, s)
			time.Sleep(time.Duration(rnd.IntN(15)) * time.Millisecond)
			if rnd.IntN(10) == 0 {
				measured(t, patch)
			}
		}
		heal(t, patch)
		p.requireWall("read", 0, time.Microsecond)
		p.requireTicks()
	})
}

func TestAMeasurementIsWhatTheProgramSees(t *testing.T) {
	inEveryLanguage(t, func(t *testing.T, p *program) {
		patch := patched(t, p.pid())
		for _, s := range []Skew{{}, {Offset: time.Minute}, {Offset: -time.Minute, Drift: 0.1}, {Drift: -0.1}} {
			turn(t, patch, s)
			time.Sleep(2 * Lead)
			sample, line := measured(t, patch)
			require.Equal(t, s, line.Skew)
			other := line.Turn(Skew{Offset: s.Offset + time.Hour}, Now())
			require.ErrorContains(t, sample.Check(other), "its wall clock is wrong by")
			wrong, accuracy := sample.Wall.Wrong()
			require.InDelta(t, float64(s.Offset), float64(wrong), float64(accuracy)+math.Abs(s.Drift)*float64(within))
		}
	})
}

func TestInstallTwiceTakesOver(t *testing.T) {
	p := start(t, "Go")
	a := patched(t, p.pid())
	turn(t, a, Skew{Offset: time.Minute, Drift: 0.01})
	b := patched(t, p.pid())
	require.Equal(t, a, b)
	line, err := b.Timeline()
	require.NoError(t, err)
	require.Equal(t, Skew{Offset: time.Minute, Drift: 0.01}, line.Skew, "it is as it was left")
	heal(t, b)
	p.requireWall("read", 0, time.Microsecond)
}

func TestANewProcessJoinsATimeline(t *testing.T) {
	first, second := start(t, "Go"), start(t, "static C")
	a := patched(t, first.pid())
	turn(t, a, Skew{Offset: time.Minute, Drift: 0.1})
	time.Sleep(2 * Lead)
	line, err := a.Timeline()
	require.NoError(t, err)
	_, err = Install(second.pid(), line, within)
	require.NoError(t, err)
	x := second.read("read")
	y := first.read("read")
	require.Greater(t, y.wall, x.wall)
	require.Less(t, y.wall-x.wall, 2*(y.after[realtime]-x.before[realtime]), "they tell the same time")
}

func TestADriftThatGainedTooMuchEnds(t *testing.T) {
	began := Now()
	for id := range began {
		began[id] -= int64(time.Minute)
	}
	p := start(t, "static C")
	patch, err := Install(p.pid(), Timeline{}.Turn(Skew{Drift: 1}, began), within)
	require.NoError(t, err)
	turn(t, patch, Skew{})
	line, err := patch.Timeline()
	require.NoError(t, err)
	require.Zero(t, line.Wall(Now()), "the wall clock has stepped")
	require.InDelta(t, LongestSlew, line.Settled(Now()), float64(time.Second), "the monotonic one takes its time")
	p.requireWall("read", 0, time.Microsecond)
}

func TestChildrenFollow(t *testing.T) {
	p := start(t, "static C")
	patch := patched(t, p.pid())
	turn(t, patch, Skew{Offset: time.Minute})
	child, _, err := p.ask("fork")
	require.NoError(t, err)
	p.requireWall("read", time.Minute, time.Microsecond)
	turn(t, patch, Skew{Offset: time.Hour})
	p.requireWall("read", time.Hour, time.Microsecond)

	own := patched(t, int(child))
	require.Equal(t, patch.data, own.data, "a child is patched already")
	turn(t, own, Skew{})
	p.requireWall("read", 0, time.Microsecond)
}

func TestAnotherProgramLosesThePatch(t *testing.T) {
	p := start(t, "Go")
	patch := patched(t, p.pid())
	turn(t, patch, Skew{Offset: time.Minute})
	_, _, err := p.ask("exec")
	require.NoError(t, err)
	p.requireWall("read", 0, time.Microsecond)
	_, err = patch.Turn(Skew{Offset: time.Hour})
	require.ErrorIs(t, err, ErrLost)
	_, err = patch.Measure(within)
	require.ErrorIs(t, err, ErrLost)
	// So it is if the patch was still there when the measurement began.
	err = trace(p.pid(), within, func(deadline time.Time) error {
		_, err := patch.measureInAny(deadline)
		return err
	})
	require.ErrorIs(t, err, ErrLost)
	p.requireWall("read", 0, time.Microsecond)
	turn(t, patched(t, p.pid()), Skew{Offset: time.Hour})
	p.requireWall("read", time.Hour, time.Microsecond)
}

func TestProgramsThatHaveChildren(t *testing.T) {
	p := start(t, "Go")
	patch := patched(t, p.pid())
	for i := range 20 {
		turn(t, patch, Skew{Offset: time.Duration(i) * time.Minute})
		_, _, err := p.ask("child")
		require.NoError(t, err)
		require.Equal(t, patch, patched(t, p.pid()))
	}
}

func TestAStoppedProgramStaysStopped(t *testing.T) {
	for _, language := range []string{"Go", "static C"} {
		p := start(t, language)
		require.NoError(t, unix.Kill(p.pid(), unix.SIGSTOP))
		waitFor(t, p.pid(), 'T')
		patch := patched(t, p.pid())
		waitFor(t, p.pid(), 'T')
		turn(t, patch, Skew{Offset: time.Minute})
		sample, err := patch.Measure(within)
		require.NoError(t, err)
		wrong, accuracy := sample.Wall.Wrong()
		require.InDelta(t, float64(time.Minute), float64(wrong), float64(accuracy+time.Microsecond))
		waitFor(t, p.pid(), 'T')
		require.NoError(t, unix.Kill(p.pid(), unix.SIGCONT))
		p.requireWall("read", time.Minute, time.Microsecond)
	}
}

func waitFor(t *testing.T, pid int, state byte) {
	require.Eventually(t, func() bool {
		tids, err := threads(pid)
		for _, tid := range tids {
			if threadState(tid) != state {
				return false
			}
		}
		return err == nil
	}, within, time.Millisecond)
}

// Who sleeps for a while, and is had to do something else meanwhile, goes on sleeping for what is left of it.
func TestASleepIsNotBegunAnew(t *testing.T) {
	sleep := exec.Command("sleep", "600")
	require.NoError(t, sleep.Start())
	t.Cleanup(func() {
		_ = sleep.Process.Kill()
		_ = sleep.Wait()
	})
	pid := sleep.Process.Pid
	call := func() int {
		var number int
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
		require.NoError(t, err)
		_, _ = fmt.Sscan(string(b), &number) // none while it runs
		return number
	}
	asleep := func(calls ...int) {
		require.Eventually(t, func() bool { return slices.Contains(calls, call()) && threadState(pid) == 'S' }, within, time.Millisecond)
	}
	asleep(unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP)
	patch := patched(t, pid)
	asleep(unix.SYS_RESTART_SYSCALL)
	_, err := patch.Measure(within)
	require.NoError(t, err)
	asleep(unix.SYS_RESTART_SYSCALL)
}

// A thread that waits for its vfork child cannot be stopped, just like one in a frozen control group.
func TestAProgramThatCannotStopIsLeftAlone(t *testing.T) {
	p := start(t, "static C")
	child, _, err := p.ask("vfork")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return threadState(p.pid()) == 'D' }, within, time.Millisecond)
	_, err = Install(p.pid(), Timeline{}, 50*time.Millisecond)
	require.ErrorContains(t, err, "is it frozen?") // and not when the child has ended, which it does when it is told to
	require.NoError(t, unix.Kill(int(child), unix.SIGTERM))
	p.requireWall("read", 0, time.Microsecond)
	turn(t, patched(t, p.pid()), Skew{Offset: time.Minute})
	p.requireWall("read", time.Minute, time.Microsecond)
}

func TestWhatCannotBePatched(t *testing.T) {
	ended := exec.Command("true")
	require.NoError(t, ended.Run())
	_, err := Install(ended.Process.Pid, Timeline{}, within)
	require.ErrorIs(t, err, ErrGone)

	p := start(t, "Go")
	patch := patched(t, p.pid())
	p.kill()
	_, err = patch.Turn(Skew{Offset: time.Minute})
	require.ErrorIs(t, err, ErrGone)
	_, err = patch.Measure(within)
	require.ErrorIs(t, err, ErrGone)
}

// A process that is killed at any moment of an installation is gone, and nothing else is wrong with it.
func TestAProcessThatIsKilledMeanwhileIsGone(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 7))
	for range 150 {
		p := start(t, "Go")
		delay := time.Duration(rnd.IntN(2500)) * time.Microsecond
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			time.Sleep(delay)
			p.kill()
		}()
		patch, err := Install(p.pid(), Timeline{}, within)
		for err == nil {
			_, err = patch.Measure(within)
		}
		require.ErrorIs(t, err, ErrGone)
		<-killed
	}
}

// A process that is stopped at any moment of an installation or a measurement stays stopped, and neither fails for it.
func TestAProcessThatIsStoppedMeanwhileStaysStopped(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 7))
	for range 150 {
		p := start(t, "Go")
		delay := time.Duration(rnd.IntN(2500)) * time.Microsecond
		stopped := make(chan error, 1)
		go func() {
			time.Sleep(delay)
			stopped <- unix.Kill(p.pid(), unix.SIGSTOP)
		}()
		patch := patched(t, p.pid())
		for range 10 {
			_, err := patch.Measure(within)
			require.NoError(t, err)
		}
		require.NoError(t, <-stopped)
		waitFor(t, p.pid(), 'T')
		p.kill()
	}
}

// The last thread of the first process of a pid namespace is not gone before its tracer has let go of the others: so nobody waits for it to be.
func TestFirstOfItsNamespaceEndsWhileItIsTraced(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: makes a pid namespace")
	}
	p := startIn(t, "Go", unix.CLONE_NEWPID)
	ended := make(chan error, 1)
	go onOwnThread(func() {
		tids, err := stopAll(p.pid(), time.Now().Add(within))
		if err == nil {
			err = unix.Kill(p.pid(), unix.SIGKILL)
		}
		if err != nil {
			ended <- err
			return
		}
		sleeps := func(tid int) bool { return slices.Contains([]byte("SI"), threadState(tid)) } // I since some kernel after 6.1
		for !slices.ContainsFunc(tids, sleeps) {
			time.Sleep(time.Millisecond)
		}
		_, err = wait(tids[slices.IndexFunc(tids, sleeps)], time.Time{})
		ended <- err
	})
	select {
	case err := <-ended:
		require.ErrorIs(t, err, ErrGone)
	case <-time.After(within):
		p.killed = true // and will not be gone before this thread is
		t.Fatal("still waits for it")
	}
	p.kill()
}
