package serve

import (
	"flag"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
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
	b.until(`location.pathname.endsWith('/live') && location.pathname !== '/live'`) // the page turns to the run
	b.until(`document.querySelectorAll('.node.leader').length >= 1`)
	b.until(`document.querySelectorAll('.links-now .cut').length === 2`)
	b.until(`[...document.querySelectorAll('#told li')].filter(e => / leads/.test(e.textContent)).length >= 4`) // it bounces
	b.until(`/^live, /.test(document.getElementById('status').textContent)`)
	b.check("a run in containers")
}
