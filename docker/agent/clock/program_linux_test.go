//go:build amd64 || arm64

package clock

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// within bounds what takes a millisecond or two on a machine that is not busy.
const within = 30 * time.Second

var builds string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "recount-clock-test-")
	if err != nil {
		panic(err)
	}
	builds = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// languages says how to make the same program in several languages. Each reads its clocks in its own way.
var languages = []struct {
	name  string
	needs string // a command
	build func(path string) []string
	run   func(path string) []string
}{
	{"Go", "go", func(path string) []string {
		return []string{"go", "build", "-trimpath", "-buildvcs=false", "-o", path, "./testdata/static"}
	}, nil},
	{"static C", "gcc", func(path string) []string {
		return []string{"gcc", "-O2", "-static", "-pthread", "-o", path, "testdata/program.c"}
	}, nil},
	{"C", "gcc", func(path string) []string {
		return []string{"gcc", "-O2", "-pthread", "-o", path, "testdata/program.c"}
	}, nil},
	{"Java", "javac", func(path string) []string {
		return []string{"javac", "-d", path, "testdata/Program.java"}
	}, func(path string) []string { return []string{"java", "-XX:TieredStopAtLevel=1", "-cp", path, "Program"} }},
	{"Python", "python3", nil, func(string) []string { return []string{"python3", "testdata/program.py"} }},
}

// inEveryLanguage runs a test against the program in each language for which there is a compiler.
func inEveryLanguage(t *testing.T, f func(t *testing.T, p *program)) {
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) { f(t, start(t, l.name)) })
	}
}

// program is a running program that tells its clocks.
type program struct {
	*testing.T
	cmd    *exec.Cmd
	killed bool
	in     io.WriteCloser
	out    *bufio.Reader
}

func start(t testing.TB, language string) *program { return startIn(t, language, 0) }

// startIn starts the program in new namespaces of these kinds, by the command that another one comes after.
func startIn(t testing.TB, language string, namespaces uintptr, by ...string) *program {
	for _, l := range languages {
		if l.name != language {
			continue
		}
		if _, err := exec.LookPath(l.needs); err != nil && os.Getenv("CI") != "true" {
			t.Skipf("needs %s", l.needs)
		}
		path := filepath.Join(builds, language)
		if _, err := os.Stat(path); err != nil && l.build != nil {
			args := l.build(path)
			build := exec.Command(args[0], args[1:]...)
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			out, err := build.CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
		args := []string{path}
		if l.run != nil {
			args = l.run(path)
		}
		return run(t, namespaces, append(by, args...)...)
	}
	panic("no program in " + language)
}

func run(t testing.TB, namespaces uintptr, args ...string) *program {
	p := &program{cmd: exec.Command(args[0], args[1:]...)}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces}
	p.T, _ = t.(*testing.T)
	in, err := p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.cmd.Stderr = os.Stderr
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { p.stop(t) })
	p.in, p.out = in, bufio.NewReader(out)
	_, _, err = p.answer() // it has started
	require.NoError(t, err)
	return p
}

// stop ends the program, which must do so of its own accord, and well.
func (p *program) stop(t testing.TB) {
	if p.cmd.ProcessState != nil || p.killed {
		return
	}
	p.in.Close()
	if t.Failed() {
		_ = p.cmd.Process.Kill()
		words, _ := io.ReadAll(p.out)
		t.Logf("the program says %q, %v", words, p.cmd.Wait())
		return
	}
	require.NoError(t, p.cmd.Wait())
}

// kill ends the program. Who traces it may be told of its end in our place.
func (p *program) kill() {
	p.killed = true
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *program) pid() int { return p.cmd.Process.Pid }

func (p *program) ask(what string) (a, b int64, err error) {
	if _, err := fmt.Fprintln(p.in, what); err != nil {
		return 0, 0, err
	}
	return p.answer()
}

func (p *program) answer() (a, b int64, err error) {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, 0, err
	}
	if n, _ := fmt.Sscan(line, &a, &b); n != 2 {
		return 0, 0, errors.New(line)
	}
	return a, b, nil
}

// told is what the program said of its clocks, and what the real ones read before and after.
type told struct {
	before, after   Moment
	wall, monotonic int64
}

func (p *program) read(what string) (s told) {
	var err error
	s.before = Now()
	s.wall, s.monotonic, err = p.ask(what)
	s.after = Now()
	require.NoError(p, err)
	return s
}

// requireWall requires that the program's wall clock errs by so much, and the given way to ask tells that to a resolution.
// Should the machine's own wall clock be set just then, it is asked again.
func (p *program) requireWall(what string, want, resolution time.Duration) {
	var s told
	for range 3 {
		s = p.read(what)
		if low, high := s.wallWithin(want, resolution); s.wall >= low && s.wall <= high {
			return
		}
	}
	low, high := s.wallWithin(want, resolution)
	require.GreaterOrEqual(p, s.wall, low)
	require.LessOrEqual(p, s.wall, high)
}

func (s *told) wallWithin(want, resolution time.Duration) (low, high int64) {
	return s.before[realtime] + int64(want-resolution), s.after[realtime] + int64(want+time.Microsecond)
}

// requireTicks requires that the program's timers run.
func (p *program) requireTicks() {
	before, _, err := p.ask("ticks")
	require.NoError(p, err)
	require.Eventually(p, func() bool {
		now, _, err := p.ask("ticks")
		return err == nil && now > before+10
	}, within, time.Millisecond)
}
