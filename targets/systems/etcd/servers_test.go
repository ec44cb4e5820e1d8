package etcd_test

import (
	"archive/tar"
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker/recipes"
	"recount/election"
	"recount/targets"
)

// Real servers, built by their recipes, elect, replace a leader that was killed and take it back: three processes on
// loopback addresses of their own, started as a container would start them but for the folders.
func TestEtcdServers(t *testing.T) {
	if runtime.GOOS != "linux" {
		skip(t, "the servers are built for Linux")
	}
	for version, tools := range map[string][]string{"3.6.16": {"go"}, "3.4.15": {"go"}, "3.4.23": {"apt-get", "dpkg-deb"}} {
		t.Run(version, func(t *testing.T) {
			for _, tool := range tools {
				if _, err := exec.LookPath(tool); err != nil {
					skip(t, "this machine has no "+tool)
				}
			}
			c := newServers(t, version)
			for _, m := range c.all {
				c.start(m)
			}
			first := c.leader(1, 2, 3)
			require.Positive(t, first.Term)

			c.kill(first.Leader)
			_, err := c.observe(first.Leader)
			require.Error(t, err, "a dead server has no view")
			var others []election.ID
			for _, m := range c.all {
				if m.ID != first.Leader {
					others = append(others, m.ID)
				}
			}
			second := c.leader(others...)
			require.NotEqual(t, first.Leader, second.Leader)
			require.Greater(t, second.Term, first.Term)

			c.start(c.all[first.Leader-1]) // with the same command, on the data that it left
			third := c.leader(1, 2, 3)
			require.GreaterOrEqual(t, third.Term, second.Term)

			for _, led := range []election.Status{first, second} {
				require.Contains(t, c.announced(led.Leader), led, "%v told in its log that it leads", led.Leader)
			}
			for _, m := range c.all {
				require.NoError(t, c.observers[m.ID].Close())
			}
		})
	}
}

// skip skips a test that this machine is not fit for; where CI runs it, it must be.
func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// servers are etcd's, on addresses 127.x.y.1 to 3, where x and y are this process's own.
type servers struct {
	t         *testing.T
	root      string // of what the recipe built
	system    election.System
	all       []election.Member
	observers map[election.ID]election.Observer
	processes map[election.ID]*exec.Cmd
	logs      map[election.ID]chan struct{} // closed once the log was read to its end

	mu    sync.Mutex
	views map[election.ID][]election.Status // announced in logs
}

func newServers(t *testing.T, version string) *servers {
	target, err := targets.Find("etcd")
	require.NoError(t, err)
	o, err := target.Parse(map[string]string{"version": version})
	require.NoError(t, err)
	c := &servers{
		t: t, root: t.TempDir(),
		observers: map[election.ID]election.Observer{},
		processes: map[election.ID]*exec.Cmd{},
		logs:      map[election.ID]chan struct{}{},
		views:     map[election.ID][]election.Status{},
	}
	c.system, err = target.System(o)
	require.NoError(t, err)

	archive, _, err := recipes.Build(t.Context(), c.system.Image(), func(line string) { t.Log(line) })
	require.NoError(t, err)
	extract(t, archive, c.root)
	require.NoError(t, archive.Close())

	pid := os.Getpid()
	for n := byte(1); n <= 3; n++ {
		addr := netip.AddrFrom4([4]byte{127, 1 + byte(pid>>8)%254, byte(pid), n})
		c.all = append(c.all, election.Member{ID: election.ID(n), Addr: addr})
	}
	for _, m := range c.all {
		c.observers[m.ID] = c.system.Observer(m, c.all, func(ctx context.Context, port int) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("%v:%d", m.Addr, port))
		})
	}
	t.Cleanup(func() {
		for id := range c.processes {
			c.kill(id)
		}
	})
	return c
}

// start starts a server, its log being read line by line.
func (c *servers) start(m election.Member) {
	container := c.system.Container(m, c.all)
	data := filepath.Join(c.root, m.ID.String())
	require.NoError(c.t, os.MkdirAll(data, 0o700))
	args := []string{filepath.Join(c.root, container.Command[0])}
	for _, a := range container.Command[1:] {
		a = strings.ReplaceAll(a, "0.0.0.0", m.Addr.String()) // all of its addresses are here the one that is its own
		args = append(args, strings.Replace(a, "="+container.Data, "="+data, 1))
	}
	// A server that came with a C library is started by that library's loader, which a container would find in its place.
	if loader, _ := filepath.Glob(filepath.Join(c.root, "lib/*/ld-linux-*.so.*")); len(loader) > 0 {
		args = append([]string{loader[0], "--library-path", filepath.Dir(loader[0])}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = container.Env
	log, err := cmd.StderrPipe()
	require.NoError(c.t, err)
	require.NoError(c.t, cmd.Start())
	read := make(chan struct{})
	c.processes[m.ID], c.logs[m.ID] = cmd, read
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if v, ok := c.system.(election.LogReader).ReadLog(m.ID, lines.Text()); ok {
				c.mu.Lock()
				c.views[m.ID] = append(c.views[m.ID], v)
				c.mu.Unlock()
			}
		}
	}()
}

func (c *servers) kill(id election.ID) {
	cmd := c.processes[id]
	delete(c.processes, id)
	_ = cmd.Process.Kill()
	<-c.logs[id]   // which Wait would cut off
	_ = cmd.Wait() // it was killed: an error, always
}

func (c *servers) observe(id election.ID) (election.Status, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Second)
	defer cancel()
	s, torn, err := c.observers[id].Observe(ctx)
	require.False(c.t, torn)
	return s, err
}

// leader waits until all of these servers name the same leader of the same term, who agrees, and returns its view.
func (c *servers) leader(of ...election.ID) election.Status {
	c.t.Helper()
	var seen []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		seen = seen[:0]
		var leader election.Status
		views := map[election.Status]int{}
		for _, id := range of {
			s, err := c.observe(id)
			seen = append(seen, fmt.Sprintf("%v: %+v %v", id, s, err))
			if err == nil && s.Role == election.Leader && s.Leader == id {
				leader = s
			}
			views[election.Status{Term: s.Term, Leader: s.Leader}]++
		}
		if leader.Leader != election.None && views[election.Status{Term: leader.Term, Leader: leader.Leader}] == len(of) {
			return leader
		}
	}
	require.FailNow(c.t, "no leader", "last seen: %s", strings.Join(seen, "; "))
	return election.Status{}
}

func (c *servers) announced(id election.ID) []election.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.views[id]
}

func extract(t *testing.T, archive io.Reader, dir string) {
	t.Helper()
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		require.NoError(t, err)
		path := filepath.Join(dir, h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			require.NoError(t, os.MkdirAll(path, 0o755))
		case tar.TypeSymlink:
			require.NoError(t, os.Symlink(h.Linkname, path))
		default:
			f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, os.FileMode(h.Mode))
			require.NoError(t, err)
			_, err = io.Copy(f, r)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
	}
}
