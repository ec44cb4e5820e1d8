package history

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"time"
	"unsafe"

	"recount/internal/hint"
)

// ErrCut is what Parse returns, wrapped, when the last line stops in its middle: the writer was killed.
var ErrCut = errors.New("cut off in the middle of a line")

// SyntaxError tells where a history is malformed, and what was expected there.
type SyntaxError struct {
	Line, Column int // from 1; columns count bytes
	Err          error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", e.Line, e.Column, e.Err)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// TooLongError tells that a history takes more memory than it may.
type TooLongError struct {
	Line   int // of the first op that does not fit
	Most   int // ops that do
	Memory int64
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("line %d: the first %d ops are all that fits into %d MiB of memory", e.Line, e.Most, e.Memory>>20)
}

// OpSize is how much memory a history takes for each op, in bytes, its strings and what checkers keep of it included.
const OpSize = int64(unsafe.Sizeof(Op{})) + 160

// maxLine is the longest line that may be an op, in bytes: that of a fault on all links of the largest cluster.
const maxLine = 16 << 20

// Parse reads a history in JSON lines, which may be compressed by gzip. An error names the line; the ops before it are
// returned with it, unpaired.
func Parse(r io.Reader) (*History, error) { return ParseWithin(r, math.MaxInt64) }

// ParseWithin is Parse with a limit on memory, in bytes. A history that would need more is refused.
func ParseWithin(r io.Reader, memory int64) (*History, error) {
	most := int(min(memory/OpSize, math.MaxInt32))
	s, err := newSource(r)
	if err != nil {
		return &History{}, err
	}
	var ops []Op
	for {
		if len(ops) == expectAfter {
			ops = slices.Grow(ops, min(s.expect(), most-len(ops)))
		}
		ops = append(ops, Op{})
		switch err := s.next(&ops[len(ops)-1]); {
		case errors.Is(err, io.EOF):
			return s.history(ops[:len(ops)-1])
		case err != nil:
			return &History{Ops: ops[:len(ops)-1]}, err
		case len(ops) > most:
			return &History{Ops: ops[:most]}, &TooLongError{s.n, most, memory}
		}
	}
}

// history makes one of all ops that were read, in the order of their lines.
func (s *source) history(ops []Op) (*History, error) {
	if second, first := s.numbers.twice(ops); second >= 0 {
		return nil, &SyntaxError{s.line(second), 1, errTwice(ops[second].Index, s.line(first))}
	}
	h, place, err := ordered(ops)
	if err != nil && s.format.ended && place >= s.format.endedAt {
		err = hint.Add(err, "the line stands behind end, on line %d: is it of another run?", s.line(s.format.endedAt-1))
	}
	if err != nil {
		return nil, &SyntaxError{s.line(place), 1, err}
	}
	return h, nil
}

// ErrDisorder is what Stream returns, wrapped, when an op is earlier than the one before it, or has no higher index: such a history
// must be read whole, and put in order.
var ErrDisorder = errors.New("the ops are not in order")

// Stream reads a history as Parse does, but keeps none of it: f is called with each op in turn, and must not keep the pointer.
// The first error of f ends it and is returned.
func Stream(r io.Reader, f func(*Op) error) error {
	s, err := newSource(r)
	if err != nil {
		return err
	}
	p := newPairing()
	for last, op := time.Duration(0), new(Op); ; last = op.Time {
		*op = Op{}
		if err := s.next(op); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if op.Time < last || s.numbers.fell {
			return fmt.Errorf("line %d: %w", s.n, ErrDisorder)
		}
		err := s.format.strange(op)
		if err == nil {
			_, _, err = p.see(op, 0)
		}
		if err != nil {
			return s.orDisorder(op, &SyntaxError{s.n, 1, fmt.Errorf("op %d: %w", op.Index, err)})
		}
		if err := f(op); err != nil {
			return err
		}
	}
}

// orDisorder is an error about what an op has to do with those before it, unless the ops are not in order, so that it need not be one.
func (s *source) orDisorder(op *Op, wrong error) error {
	for last := op.Time; ; last = op.Time {
		*op = Op{}
		switch err := s.next(op); {
		case errors.Is(err, io.EOF), errors.Is(err, ErrCut): // what is cut off is no reason to judge what comes before what is wrong
			return wrong
		case err != nil:
			return err
		case op.Time < last || s.numbers.fell:
			return fmt.Errorf("line %d: %w", s.n, ErrDisorder)
		}
	}
}

// buffered is how much is read of a file at once, in bytes: most lines are much shorter, and short histories are many.
const buffered = 64 << 10

// source reads ops from lines of JSON, one by one.
type source struct {
	lines
	scanner scanner
	format  format
	numbers numbers
	skipped []skip
	timed   bool // an op told a time above 0
}

// skip tells how many lines before an op, and those after it, are none.
type skip struct{ place, lines int }

// line returns the line of the op at a place in the file.
func (s *source) line(place int) int {
	i, _ := slices.BinarySearchFunc(s.skipped, place+1, func(k skip, place int) int { return k.place - place })
	if i == 0 {
		return place + 1
	}
	return place + 1 + s.skipped[i-1].lines
}

func newSource(r io.Reader) (*source, error) {
	s := &source{lines: lines{r: bufio.NewReaderSize(r, buffered), size: sizeOf(r)}, scanner: scanner{names: map[string]string{}}}
	if magic, _ := s.r.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(s.r)
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("decompress: %w", ErrCut)
		}
		if err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
		s.r, s.size = bufio.NewReaderSize(z, buffered), 0
	}
	if mark, _ := s.r.Peek(3); string(mark) == "\ufeff" { // of some editors
		s.r.Discard(3)
	}
	return s, nil
}

// next reads the next op into a zero one. The error at the end is io.EOF.
func (s *source) next(op *Op) error {
	for {
		text, err := s.lines.next()
		if err != nil {
			return err
		}
		if len(text) == 0 {
			continue
		}
		column, place := 0, s.format.ops
		if !s.scanner.op(text, op) {
			*op = Op{Index: place}
			column, err = op.decode(text)
			if err != nil && s.ends && !json.Valid(text) { // somebody was not done writing
				column, err = len(text)+1, ErrCut
			}
		}
		if err == nil {
			column, err = 1, s.format.fits(op)
		}
		if s.timed = s.timed || op.Time > 0; err == nil && s.timed && op.Time == 0 && !tellsTime(text) {
			err = errUntimed
		}
		if err != nil {
			return &SyntaxError{s.n, column + s.indent, err}
		}
		if s.line(place) != s.n {
			s.skipped = append(s.skipped, skip{place, s.n - place - 1})
		}
		s.numbers.take(op)
		return nil
	}
}

// errUntimed is of an op that would come before all others for want of a time: nobody can have meant that.
var errUntimed = errors.New("no time, and an op before it tells one: want nanoseconds since the run began, or no time of any op")

// tellsTime reports whether an op's line has a time.
func tellsTime(line []byte) bool {
	var op struct {
		Time json.RawMessage `json:"time"`
	}
	return json.Unmarshal(line, &op) != nil || op.Time != nil
}

// expectAfter is after how many ops the length of those to come is known well enough.
const expectAfter = 4096

// sizeOf returns how long the file is that r reads, 0 where that is not known.
func sizeOf(r io.Reader) int64 {
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}

// lines reads a text line by line.
type lines struct {
	r      *bufio.Reader
	n      int   // the number of the line, from 1
	read   int64 // bytes so far
	size   int64 // of all, 0 if unknown
	indent int   // bytes cut off before the line
	ends   bool  // the text does, with this line, which lacks its end
	long   []byte
}

// next returns the next line without the space around it. It holds until the next call.
func (l *lines) next() ([]byte, error) {
	l.n++
	text, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long[:0], text...)
		for errors.Is(err, bufio.ErrBufferFull) {
			if len(l.long) > maxLine {
				return nil, &SyntaxError{l.n, maxLine + 1, fmt.Errorf("the line goes on after %d MiB: want one op a line", maxLine>>20)}
			}
			if bytes.IndexByte(l.long, 0) >= 0 {
				break
			}
			text, err = l.r.ReadSlice('\n')
			l.long = append(l.long, text...)
		}
		text = l.long
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return nil, &SyntaxError{l.n, i + 1, errors.New("a byte 0: want text")}
	}
	l.read += int64(len(text))
	trimmed := bytes.TrimSpace(text)
	switch {
	case err == io.EOF && len(trimmed) > 0:
		l.ends = true // it may be whole: an op has its own end
	case errors.Is(err, io.ErrUnexpectedEOF): // what was compressed is cut
		return nil, &SyntaxError{l.n, len(text) + 1, ErrCut}
	case err != nil && err != io.EOF:
		return nil, fmt.Errorf("line %d: %w", l.n, err)
	case err == io.EOF:
		return nil, io.EOF
	}
	l.indent = bytes.Index(text, trimmed)
	return trimmed, nil
}

// expect is about how many lines there are left, by the length of those so far.
func (l *lines) expect() int {
	if l.size <= l.read {
		return 0
	}
	each := float64(l.read) / float64(l.n)
	return int(float64(l.size-l.read)/each*1.02) + 1
}
