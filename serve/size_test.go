package serve

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
	"recount/internal/testlong"
)

// quickest is how long something takes when nothing else keeps the machine.
func quickest(times int, f func()) time.Duration {
	best := time.Hour
	for range times {
		began := time.Now()
		f()
		best = min(best, time.Since(began))
	}
	return best
}

func TestHomeOfTenThousandRuns(t *testing.T) {
	testlong.Only(t)
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	for i := range 10_000 {
		dir := filepath.Join(results, fmt.Sprintf("raft%d", i%50), fmt.Sprintf("20260101-%06d.000", i))
		require.NoError(t, os.MkdirAll(dir, 0o755))
		for _, name := range []string{record.RunFile, record.VerdictsFile, record.HistoryFile} {
			require.NoError(t, os.Link(filepath.Join(r.Dir, name), filepath.Join(dir, name)))
		}
	}
	_, h := open(t, Config{Results: results})
	took := quickest(5, func() { require.Contains(t, get(h, "/").Body.String(), "10001 of 10001 runs") })
	t.Logf("home with 10,001 runs takes %v", took)
	require.Contains(t, get(h, "/runs").Body.String(), "of 10001")
}

// started is a program under way, to be ended as Ctrl-C does.
func started(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	})
}

func TestARunOfAMillionOpsFitsIntoMemory(t *testing.T) {
	testlong.Only(t)
	dir := t.TempDir()
	recount, results := filepath.Join(dir, "recount"), filepath.Join(dir, "results")
	build := exec.Command("go", "build", "-o", recount, "../cmd/recount")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	run := exec.Command(recount, "run", "--target", "raft", "--nodes", "7", "--time", "1h", "--nemesis", "isolate,kill", "--seed", "1", "--results", results)
	_ = run.Run() // what it finds is not of interest
	history, err := os.Open(filepath.Join(results, "latest", record.HistoryFile))
	require.NoError(t, err)
	defer history.Close()
	ops := 0
	for lines := bufio.NewReader(history); ; ops++ {
		if _, err := lines.ReadSlice('\n'); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
	}
	require.Greater(t, ops, 1_000_000)

	serve := exec.Command(recount, "serve", "--results", results, "--listen", "127.0.0.1:0")
	said, err := serve.StdoutPipe()
	require.NoError(t, err)
	started(t, serve)
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	site := regexp.MustCompile(`http://[\d.:]+`).FindString(line)
	require.NotEmpty(t, site, line)
	fetch := func(path string) (body string) {
		answer, err := http.Get(site + path)
		require.NoError(t, err)
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode, path)
		return string(b)
	}
	at, err := os.Readlink(filepath.Join(results, "latest"))
	require.NoError(t, err)
	page := "/runs/" + at + "/"
	first := quickest(3, func() {
		require.Contains(t, fetch(page), `src="timeline.svg"`)
		require.Contains(t, fetch(page+"timeline.svg"), "<svg")
	})
	t.Logf("%d ops: the first picture takes %v", ops, first)
	for _, path := range []string{page + "?whole=", page + "run.perfetto", "/coverage", "/trends", "/api/v1/runs/" + at + "/ops?from=900000"} {
		fetch(path)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", serve.Process.Pid))
	require.NoError(t, err)
	_, most, _ := strings.Cut(string(status), "VmHWM:")
	kB, err := strconv.Atoi(strings.Fields(most)[0])
	require.NoError(t, err)
	t.Logf("memory at most: %d MB", kB>>10)
	require.Less(t, kB>>10, 500)
}
