// Package appended reads what a program appends to a file, such as its log, through all that becomes of the file: it may not be there
// yet, be renamed or removed and begun again, be cut short, or lose its end when the machine crashes.
package appended

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// File is what was read of a file so far. The zero File has no path; its methods must not be called concurrently.
type File struct {
	Path string // from the root of the program's own files

	f     *os.File
	inode uint64
	at    int64  // what lies before it was read
	head  []byte // the beginning of that
	tail  []byte // and its end
	cut   bool   // it ended in the middle of a line
	lost  bool   // its machine has crashed since
	room  []byte // to read to: most looks find nothing
}

const (
	headed = 4 << 10  // is kept of the beginning, in bytes
	most   = 64 << 10 // is read at once, and kept of the end
)

// Next returns what was appended since the last call, or the beginning of it: call it until nothing comes. root is the folder that the
// program sees as "/", and "" if it cannot be looked into now: what is still to be read of the file that was found last is read all the same.
// It is no error if the file is not there.
func (t *File) Next(root string) ([]byte, error) {
	if b := t.read(); len(b) > 0 || root == "" {
		return b, nil
	}
	f, err := open(root, t.Path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	size, inode, err := identify(f)
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("read %s: %w", t.Path, err), f.Close())
	case t.f != nil && inode == t.inode && size >= t.at:
		return nil, f.Close()
	}
	if b := t.read(); len(b) > 0 { // which was written before it was another file's turn
		return b, f.Close()
	}
	if on := t.begin(f, size, inode); t.cut && !on {
		t.cut = false
		return []byte("\n"), nil // who wrote it writes no more of that line
	}
	return t.read(), nil
}

// begin goes on with what now has the path: from its beginning, or behind what was read before, as where the program was started again, or a
// crash has taken the rest. It reports whether nothing of what was read is gone.
func (t *File) begin(f *os.File, size int64, inode uint64) bool {
	t.Close()
	same := int64(0)
	if t.lost || inode == t.inode { // through /proc, a container that was started again has another device
		same = t.same(f, size)
	}
	t.f, t.inode, t.lost = f, inode, false
	if same == t.at {
		return true
	}
	before := t.at - int64(len(t.tail)) // where the tail begins
	switch {
	case same == size: // the rest is gone, and nothing stands in its place
	case same < int64(len(t.head)):
		same = int64(bytes.LastIndexByte(t.head[:same], '\n') + 1) // a line that is another one now is read whole
	case same > before:
		same = before + int64(bytes.LastIndexByte(t.tail[:same-before], '\n')+1)
	}
	t.at, t.head, t.tail = same, t.head[:min(same, int64(len(t.head)))], t.tail[:max(0, same-before)]
	return false
}

// same is how much of what was read a file begins with.
func (t *File) same(f *os.File, size int64) int64 {
	alike := func(b []byte, at int64) int64 {
		now := make([]byte, max(0, min(int64(len(b)), size-at)))
		n, _ := f.ReadAt(now, at) // what cannot be read is not alike
		for i := range now[:n] {
			if now[i] != b[i] {
				return at + int64(i)
			}
		}
		return at + int64(n)
	}
	if n := alike(t.head, 0); n < int64(len(t.head)) {
		return n
	}
	if before := t.at - int64(len(t.tail)); before < size {
		return alike(t.tail, before)
	}
	return size
}

// read reads on in the file that is open.
func (t *File) read() []byte {
	if t.f == nil {
		return nil
	}
	if t.room == nil {
		t.room = make([]byte, most)
	}
	n, err := t.f.ReadAt(t.room, t.at)
	if err != nil && err != io.EOF || n == 0 { // an error of a disk that fails, or is not there any more
		return nil
	}
	b := bytes.Clone(t.room[:n])
	if room := headed - len(t.head); room > 0 {
		t.head = append(t.head, b[:min(n, room)]...)
	}
	t.tail = append(t.tail, b...)
	t.tail = t.tail[max(0, len(t.tail)-most):]
	t.at += int64(n)
	t.cut = b[n-1] != '\n'
	return b
}

// Lost tells that the machine has crashed: the file may be another one now, with the same beginning.
func (t *File) Lost() {
	t.Close()
	t.lost = true
}

// Open reports whether a file was found, and not let go of since.
func (t *File) Open() bool { return t.f != nil }

// Close lets go of the file that is open. What comes after that goes on where it was.
func (t *File) Close() {
	if t.f != nil {
		t.f.Close()
		t.f = nil
	}
}
