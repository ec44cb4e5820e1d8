package virtual

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"recount/docker/agent/disk"
	"recount/history"
	"recount/internal/appended"
	"recount/internal/bounded"
	"recount/sim/clock"
	"recount/virtual/tcp"
)

// node is one member: a machine with an address, a kernel, a clock and a disk, and processes that live several lives.
type node struct {
	c      *Cluster
	index  int
	name   string
	addr   netip.Addr
	root   string // the folder that its processes see as "/"
	logs   func(line string)
	file   *appended.File       // its log that is a file; nil for none
	heard  bool                 // something was read there
	unread error                // why it cannot be read; nil if it can, or is not there
	long   bool                 // a line of its log was broken, and somebody was told
	kept   map[int]*bounded.Log // of each of its programs, through all lives

	programs []Program // its own, and those beside it
	procs    []*proc   // of its present life, or the last
	life     uint64    // counts the starts
	present  *Life     // or the last
	state    history.ProcState

	boots  int // counts the crashes of the machine
	off    bool
	clock  clock.Clock
	apart  time.Duration // its wall clock from those of others
	cpu    history.CPU   // works in the first part of each period of the run's clock, and stands still for the rest
	disk   history.DiskState
	mirror *disk.Mirror // nil in a run whose machines do not crash
	disks  *rand.Rand   // what that draws from
	wrote  bool         // one of its processes has changed or synced a file
	tcp    *tcp.Host
	binds  map[uint16][]*bind // by their ports, in the order in which they were bound
	secret uint64             // which of several sockets that share a port hears whom follows from it

	refused map[*node]refusals // by whom datagrams were sent that nobody took

	seen   history.View // what it was last seen to be
	doomed *trap        // has sprung, and ends the processes in the middle of what they do,
	left   int          // after so many more things that they do
	torn   bool         // that is now: nothing more comes of them
}

// Program is what a node runs.
type Program struct {
	Name  string // "" for the node's own, which its log is named after
	Path  string // an executable that was built with virtual/overlay
	Args  []string
	Env   []string
	Files map[string]string // written before the first start, by their whole paths
	Data  string            // a folder that is there from the start
	Log   string            // the file that it writes its log to, besides its output; "" for none
	Dir   string            // that it begins in, made if need be; "" for the root
}

func newNode(c *Cluster, i int, name string, up, apart time.Duration, secret uint64, root string) *node {
	n := &node{
		c: c, index: i, name: name, addr: netip.AddrFrom4([4]byte{10, 9, 0, byte(i + 1)}), root: root,
		clock: clock.New(up), apart: apart, state: history.Down, binds: map[uint16][]*bind{}, secret: secret, refused: map[*node]refusals{}, kept: map[int]*bounded.Log{},
	}
	n.tcp = tcp.NewHost(n, secret)
	return n
}

// Launch gives nodes their programs, the first of which is the node's own, and starts them, within a few milliseconds
// of each other.
func (c *Cluster) Launch(programs map[string][]Program) error {
	for _, n := range c.nodes {
		what, now := programs[n.name]
		if !now {
			continue
		}
		n.programs = what
		if err := n.furnish(); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
		c.After(time.Duration(c.start.Int64N(int64(10*time.Millisecond))), func() {
			if err := n.start(); err != nil {
				c.lose(err)
			}
		})
	}
	return nil
}

// lose has Run fail.
func (c *Cluster) lose(err error) {
	if c.lost == nil {
		c.lost = err
	}
}

// Relaunch has the next life of a node, which does not run, run other programs.
func (c *Cluster) Relaunch(node string, programs []Program) error {
	n := c.named(node)
	if n.runs() {
		return fmt.Errorf("%s runs", node)
	}
	n.programs = programs
	return n.place()
}

// logFile is where the node's own program writes its log besides its output; "" for nowhere.
func (n *node) logFile() string {
	if len(n.programs) == 0 {
		return ""
	}
	return n.programs[0].Log
}

// furnish makes a node's machine, with what its programs find there.
func (n *node) furnish() error { return errors.Join(n.place(), n.mirrored()) }

// environment is what every process finds in its environment, where its own does not say otherwise: what engines give containers whose
// image has no /etc/passwd. Who finds no home may start other programs to look for it.
func (n *node) environment() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME=" + n.name, "HOME=/"}
}

// place makes the folders and files that a node's programs find.
func (n *node) place() error {
	return n.within(func(root *os.Root) error {
		for _, dir := range []string{"/tmp", "/etc", "/root"} {
			if err := root.MkdirAll(inside(dir), 0o755); err != nil {
				return err
			}
		}
		for _, p := range n.programs {
			if p.Data != "" {
				if err := root.MkdirAll(inside(p.Data), 0o755); err != nil {
					return err
				}
			}
			for _, path := range slices.Sorted(maps.Keys(p.Files)) {
				file := inside(path)
				if err := errors.Join(root.MkdirAll(filepath.Dir(file), 0o755), root.WriteFile(file, []byte(p.Files[path]), 0o644)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// begins makes the folders that a node's programs begin in, where they are not there.
func (n *node) begins(root *os.Root) (err error) {
	for _, p := range n.programs {
		if p.Dir != "" {
			err = errors.Join(err, root.MkdirAll(inside(p.Dir), 0o755))
		}
	}
	return err
}

// within does something with the files of the node's machine. A link that a program has made leads nowhere out of it.
func (n *node) within(do func(root *os.Root) error) error {
	if err := os.MkdirAll(n.root, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(n.root)
	if err != nil {
		return err
	}
	if err = errors.Join(do(root), root.Close()); err != nil {
		return fmt.Errorf("the files of %s: %w", n.name, err)
	}
	return nil
}

// inside is a path of the node's machine, from where its files lie.
func inside(path string) string { return filepath.Join(".", filepath.Join("/", path)) }

// start begins a life.
func (n *node) start() error {
	n.life++
	n.state, n.off = history.Up, false
	n.doomed, n.torn = nil, false
	n.procs = n.procs[:0]
	err := n.within(n.begins)
	if err == nil && n.mirror != nil {
		err = n.mirror.Reread(n.root)
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", n.name, err)
	}
	for i := range n.programs {
		p, err := n.newProc(i)
		if err != nil {
			return fmt.Errorf("start %s: %w", n.name, err)
		}
		n.procs = append(n.procs, p)
	}
	n.c.gather()
	for _, p := range slices.Clone(n.procs) {
		p.run()
	}
	n.present = &Life{n: n, number: n.life}
	for _, f := range n.c.onStart {
		f(n.present)
	}
	n.c.started(n)
	return nil
}

// gather lists the processes that run.
func (c *Cluster) gather() {
	c.procs = nil
	for _, n := range c.nodes {
		for _, p := range n.procs {
			if !p.ended {
				c.procs = append(c.procs, p)
			}
		}
	}
}

// runs tells whether there is a process, be it that it stands still.
func (n *node) runs() bool { return len(n.procs) > 0 && !n.procs[0].ended }

// still tells whether its processes do nothing, and do not know it.
func (n *node) still() bool { return n.state == history.Paused || n.state == history.Frozen }

// kill ends a life as kill -9 does.
func (n *node) kill() error {
	var errs []error
	for _, p := range n.procs {
		errs = append(errs, p.end())
	}
	n.c.gather()
	return errors.Join(errs...)
}

// crash ends a life as a loss of power does: the peers are told nothing.
func (n *node) crash() error {
	n.boots++
	n.off = true
	n.tcp.Crash()
	return n.kill()
}

// exited is called when a process of the node has ended by itself: the others end with it.
func (n *node) exited(code int) {
	for _, p := range n.procs {
		if err := p.end(); err != nil {
			n.c.lose(err)
		}
	}
	n.c.gather()
	if n.state == history.Stopped {
		return
	}
	n.state = history.Down
	n.c.onExit(n.name, code)
}
