package serve

import (
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

// A run in containers is made by the program, which is also what runs in them: go test ./serve -run Containers -recount bin/recount
var program = flag.String("recount", "", "the program, to follow a run in containers in a browser")

func TestFollowingARunInContainers(t *testing.T) {
	if *program == "" {
		t.Skip("it needs Docker and the program: -recount names it")
	}
	results := t.TempDir()
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.open("/live")
	require.Contains(t, b.text("h1"), "Nothing is under way")
	run := exec.Command(*program, "run", "ping-pong", "--on", "docker", "--results", results)
	var said strings.Builder
	run.Stdout, run.Stderr = &said, &said
	require.NoError(t, run.Start())
	t.Cleanup(func() { // Ctrl-C heals and takes the containers away
		_ = run.Process.Signal(syscall.SIGINT)
		_ = run.Wait()
		t.Log(said.String())
	})
	first := make(chan time.Time, 1) // when the first op was written
	go func() {
		for {
			if all, _ := filepath.Glob(filepath.Join(results, "*", "*", record.HistoryFile)); len(all) > 0 {
				if info, err := os.Stat(all[0]); err == nil && info.Size() > 0 {
					first <- time.Now()
					return
				}
			}
			time.Sleep(time.Millisecond)
		}
	}()
	b.until(`location.pathname.endsWith('/live') && location.pathname !== '/live'`) // the page turns to the run
	b.until(`/^live, [1-9]/.test(document.getElementById('status').textContent)`)
	shown := time.Since(<-first)
	t.Logf("the first op shows after %v", shown)
	require.Less(t, shown, time.Second)
	b.until(`document.querySelectorAll('.node.leader').length >= 1`)
	b.until(`document.querySelectorAll('.links-now .cut').length === 2`)
	b.until(`[...document.querySelectorAll('#told li')].filter(e => / leads/.test(e.textContent)).length >= 4`) // it bounces
	b.until(`/^live, /.test(document.getElementById('status').textContent)`)
	b.check("a run in containers")
}

// An etcd without pre-vote, which lets who comes back depose the leader, beside one with it.
func TestComparingVersionsOfAServerInContainers(t *testing.T) {
	if *program == "" {
		t.Skip("it needs Docker and the program: -recount names it")
	}
	results := t.TempDir()
	for _, version := range []string{"3.4.23", "3.6.16"} {
		run := exec.CommandContext(t.Context(), *program, "run", "non-sticky-leader", "--on", "docker", "--target", "etcd", "--opt", "version="+version, "--seed", "1", "--results", results)
		said, err := run.CombinedOutput()
		require.NoError(t, err, string(said))
	}
	runs, err := filepath.Glob(filepath.Join(results, "etcd", "*"))
	require.NoError(t, err)
	require.Len(t, runs, 2)
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.open("/compare?a=etcd/" + filepath.Base(runs[0]) + "&b=etcd/" + filepath.Base(runs[1]))
	require.Contains(t, b.text(".pair"), "version=3.4.23")
	require.Contains(t, b.text(".first"), "They part at")
	b.until(`document.querySelectorAll('.two .difference').length === 1`)
	b.open("/runs/etcd/" + filepath.Base(runs[0]) + "/diagram")
	b.until(`[...document.querySelectorAll('.message .kind')].some(k => /^(heartbeat|vote request|append)( reply)? [1-9]/.test(k.textContent))`)
	b.until(`document.querySelectorAll('.message.sum').length === 0`)
}
