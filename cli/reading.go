package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// reading is a stored history while it is read and judged: how far that is, which may be asked from anywhere, and whether it is still wanted.
type reading struct {
	ctx      context.Context
	name     string
	size     atomic.Int64 // of the file, 0 if it has none
	got      atomic.Int64 // bytes of it
	deciding atomic.Bool  // it was read
	begun    time.Time
}

func newReading(ctx context.Context, path string) *reading {
	return &reading{ctx: ctx, name: filepath.Base(path), begun: time.Now()}
}

// open opens the file that the history is in.
func (r *reading) open(file string) (*source, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		r.size.Store(info.Size())
	}
	return &source{f, r}, nil
}

// String says how far it is.
func (r *reading) String() string {
	passed := time.Since(r.begun).Round(time.Second)
	got, size := r.got.Load(), r.size.Load()
	switch {
	case r.deciding.Load():
		return fmt.Sprintf("check: %s is read, and being decided; %v by the wall clock", r.name, passed)
	case size > 0:
		return fmt.Sprintf("check: reading %s, %d of %d MiB, %d %%; %v by the wall clock", r.name, got>>20, size>>20, min(100, 100*got/size), passed)
	}
	return fmt.Sprintf("check: reading %s, %d MiB; %v by the wall clock", r.name, got>>20, passed)
}

// source is a file that a history is read from, as long as it is wanted.
type source struct {
	*os.File
	of *reading
}

func (s *source) Read(b []byte) (int, error) {
	if err := s.of.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.File.Read(b)
	s.of.got.Add(int64(n))
	return n, err
}
