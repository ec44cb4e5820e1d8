// Package cover tells which statements of a program have run, of one that `go build -cover` has built. Its processes are asked for nothing:
// their counters are read in their memory, where they stand still.
package cover

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
)

// Block is a stretch of statements that run one after the other. Two are the same if all of it is.
type Block struct {
	File               string // as packages are imported: github.com/hashicorp/raft/raft.go
	Func               string // its name, with a receiver: (*Raft).runLeader; "" of a function literal
	Line, Column       uint32
	EndLine, EndColumn uint32
	Statements         uint32
}

// Profile is which blocks have run, of all that programs have. It is not for several goroutines at once.
type Profile struct {
	blocks map[Block]bool // whether it has run
}

// NewProfile is one of nothing.
func NewProfile() *Profile { return &Profile{map[Block]bool{}} }

// Add counts what has run by another profile. nil is one of nothing.
func (p *Profile) Add(other *Profile) {
	if other == nil {
		return
	}
	for b, ran := range other.blocks {
		p.blocks[b] = p.blocks[b] || ran
	}
}

// Ran are the blocks that have run, in any order.
func (p *Profile) Ran() iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for b, ran := range p.blocks {
			if ran && !yield(b) {
				return
			}
		}
	}
}

// Statements is how many there are, and how many of them have run.
func (p *Profile) Statements() (ran, all int) {
	for b, is := range p.blocks {
		all += int(b.Statements)
		if is {
			ran += int(b.Statements)
		}
	}
	return ran, all
}

// Words say how many of all statements have run.
func Words(ran, all int) string {
	if all == 0 {
		return "no statement was counted: cover names no package of the program"
	}
	return fmt.Sprintf("%d of %d statements ran", ran, all)
}

// Never are the functions of which nothing has run, the longest first: File and Func, and how many statements.
func (p *Profile) Never() []Block {
	type function struct{ file, name string }
	whole, ran := map[function]Block{}, map[function]bool{}
	for b, is := range p.blocks {
		if b.Func == "" {
			continue
		}
		f := function{b.File, b.Func}
		ran[f] = ran[f] || is
		whole[f] = Block{File: b.File, Func: b.Func, Statements: whole[f].Statements + b.Statements}
	}
	maps.DeleteFunc(whole, func(f function, b Block) bool { return ran[f] || b.Statements == 0 })
	return slices.SortedFunc(maps.Values(whole), func(a, b Block) int {
		return cmp.Or(cmp.Compare(b.Statements, a.Statements), cmp.Compare(a.File, b.File), cmp.Compare(a.Func, b.Func))
	})
}

// Write writes it as go tool cover reads it.
func (p *Profile) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "mode: set")
	for _, b := range slices.SortedFunc(maps.Keys(p.blocks), Block.compare) {
		ran := 0
		if p.blocks[b] {
			ran = 1
		}
		fmt.Fprintf(out, "%s:%d.%d,%d.%d %d %d\n", b.File, b.Line, b.Column, b.EndLine, b.EndColumn, b.Statements, ran)
	}
	return out.Flush()
}

func (b Block) compare(o Block) int {
	return cmp.Or(
		cmp.Compare(b.File, o.File), cmp.Compare(b.Line, o.Line), cmp.Compare(b.Column, o.Column), cmp.Compare(b.EndLine, o.EndLine),
		cmp.Compare(b.EndColumn, o.EndColumn), cmp.Compare(b.Func, o.Func), cmp.Compare(b.Statements, o.Statements),
	)
}
