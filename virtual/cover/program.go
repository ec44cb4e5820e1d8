package cover

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// How what `go build -cover` has made lies in memory: internal/coverage of Go 1.20 and later, defs.go and rtcov/rtcov.go.
const (
	metaSymbol = "internal/coverage/rtcov.Meta" // begins with a slice of blobs, one of each package
	blobSize   = 64                             // of one: a pointer, a length of 4 bytes, …
	headerSize = 44                             // of a package's meta data; then the offset of each function
	fromSymbol = "runtime.covctrs"
	toSymbol   = "runtime.ecovctrs"
)

// program is an executable whose counters can be read.
type program struct {
	from, to uint64 // where they are
	meta     uint64 // where what they are of is told
	order    binary.ByteOrder

	mu       sync.Mutex
	packages uint64 // that are known; each tells of itself when it is initialized
	blocks   map[where]Block
}

// where is the place of a block: the counter of a function of a package.
type where struct{ pkg, fn, counter uint32 }

// programs are those that were looked at. One that is built anew is another.
var programs sync.Map // *program by build

type build struct {
	path string
	at   time.Time
	size int64
}

// errGone is of memory that is not there any more.
type errGone struct{ error }

// open looks into an executable.
func open(path string) (*program, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	key := build{path, info.ModTime(), info.Size()}
	if p, is := programs.Load(key); is {
		return p.(*program), nil
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	at := map[string]uint64{}
	for _, s := range all {
		switch s.Name {
		case metaSymbol, fromSymbol, toSymbol:
			at[s.Name] = s.Value
		}
	}
	p := &program{from: at[fromSymbol], to: at[toSymbol], meta: at[metaSymbol], order: f.ByteOrder}
	programs.Store(key, p)
	return p, nil
}

// Read counts what a process has run that stands still, and is of the executable at a path. A program that was built without -cover
// counts for nothing, nor does a process that is gone.
func (p *Profile) Read(path string, pid int) error {
	prog, err := open(path)
	if err != nil {
		return fmt.Errorf("what of %s has run: %w", path, err)
	}
	if prog.meta == 0 || prog.from == 0 || prog.to < prog.from {
		return nil
	}
	mem, err := os.Open(filepath.Join("/proc", fmt.Sprint(pid), "mem"))
	if err != nil {
		return nil
	}
	defer mem.Close()
	var gone *errGone
	if err := p.read(prog, mem); err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("what of %s has run: %w", path, err)
	}
	return nil
}

func (p *Profile) read(prog *program, mem *os.File) error {
	blocks, err := prog.known(mem)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		if _, is := p.blocks[b]; !is {
			p.blocks[b] = false
		}
	}
	raw := make([]byte, prog.to-prog.from)
	if _, err := mem.ReadAt(raw, int64(prog.from)); err != nil {
		return &errGone{err}
	}
	words := make([]uint32, len(raw)/4)
	for i := range words {
		words[i] = prog.order.Uint32(raw[4*i:])
	}
	// Of a function that has begun: how many counters it has, its package, itself, and the counters; else all is 0.
	const lead = 3
	for i := 0; i+lead <= len(words); i++ {
		n := words[i]
		if n == 0 {
			continue
		}
		if uint64(i)+lead+uint64(n) > uint64(len(words)) {
			return errors.New("its counters make no sense")
		}
		pkg, fn := words[i+1], words[i+2]
		for k := range n {
			if b, is := blocks[where{pkg, fn, k}]; is && words[i+lead+int(k)] != 0 {
				p.blocks[b] = true
			}
		}
		i += lead + int(n) - 1
	}
	return nil
}

// known returns the blocks of a program, as far as this process or one before it can tell them.
func (g *program) known(mem *os.File) (map[where]Block, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := reader{mem: mem}
	list := r.bytes(g.meta, 16)
	if r.err != nil {
		return nil, r.err
	}
	at, n := g.order.Uint64(list), g.order.Uint64(list[8:])
	if n <= g.packages {
		return g.blocks, nil
	}
	blocks := map[where]Block{}
	for pkg := range uint32(min(n, 1<<16)) {
		blob := r.bytes(at+uint64(pkg)*blobSize, blobSize)
		if r.err != nil {
			return nil, r.err
		}
		meta := r.bytes(g.order.Uint64(blob), uint64(g.order.Uint32(blob[8:])))
		if r.err != nil {
			return nil, r.err
		}
		if err := g.decode(meta, pkg+1, blocks); err != nil { // counters have 1 more than the place in the list
			return nil, err
		}
	}
	g.packages, g.blocks = n, blocks
	return blocks, nil
}

// reader reads memory until something is wrong.
type reader struct {
	mem *os.File
	err error
}

// mostMeta is the most that is read at once: more is no meta data.
const mostMeta = 64 << 20

func (r *reader) bytes(at, n uint64) []byte {
	if r.err == nil && n > mostMeta {
		r.err = errors.New("what it tells of its statements makes no sense")
	}
	if r.err != nil {
		return nil
	}
	b := make([]byte, n)
	if _, err := r.mem.ReadAt(b, int64(at)); err != nil {
		r.err = &errGone{err}
	}
	return b
}
