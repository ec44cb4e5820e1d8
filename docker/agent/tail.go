//go:build linux

package agent

import (
	"fmt"
	"net"
	"time"

	"recount/internal/appended"
)

const (
	tailEvery = 5 * time.Millisecond // a log that is a file is read so often
	findEvery = 10                   // and every so many times it is looked whether another file has its name
)

// tail sends what a node appends to its log to the stream, until that ends.
func (a *agent) tail(stream net.Conn, of Tail) {
	p, err := a.place(of.Node)
	if err != nil {
		WriteLine(stream, Tailing{Error: err.Error()})
		return
	}
	if WriteLine(stream, Tailing{}) != nil {
		return
	}
	gone := make(chan struct{})
	go func() { // the harness says no more; it hangs up
		stream.Read(make([]byte, 1))
		close(gone)
	}()
	t := &tailed{file: &appended.File{}}
	defer func() { t.file.Close() }()
	every := time.NewTicker(tailEvery)
	defer every.Stop()
	for {
		select {
		case <-gone:
			return
		case <-every.C:
		}
		a.mu.Lock()
		log, crashes, first := p.log, p.crashes, first{}
		if len(p.procs) > 0 {
			first = p.procs[0]
		}
		a.mu.Unlock()
		if t.read(stream, log, crashes, first) != nil {
			return
		}
	}
}

// tailed is how far a node's log was read, and what its node was then.
type tailed struct {
	file    *appended.File
	log     string
	crashes int
	ticks   int
	of      first // whose root the file was looked for in
	told    string
}

// read sends what there is to read. An error is of the stream. What can be read of who has ended is read before the next life's.
func (t *tailed) read(stream net.Conn, log string, crashes int, now first) error {
	if now != t.of || crashes != t.crashes || log != t.log {
		if err := t.send(stream, ""); err != nil {
			return err
		}
		if t.file.Close(); crashes != t.crashes {
			t.file.Lost()
		}
		if log != t.log {
			t.file = &appended.File{Path: log}
		}
		t.of, t.crashes, t.log, t.ticks = now, crashes, log, 0
	}
	root := ""
	if t.ticks%findEvery == 0 || !t.file.Open() {
		if t.log != "" && now.pid > 0 && now.alive() {
			root = fmt.Sprintf("/proc/%d/root", now.pid)
		}
	}
	if t.ticks++; root == "" && !t.file.Open() {
		return nil
	}
	err := t.send(stream, root)
	if t.ticks%findEvery == 1 && root == "" {
		t.file.Close() // who has ended writes no more, and an engine may want to take its files away
	}
	return err
}

// send sends what there is to read now.
func (t *tailed) send(stream net.Conn, root string) error {
	for {
		text, err := t.file.Next(root)
		if err != nil && err.Error() != t.told {
			t.told = err.Error()
			if err := WriteLine(stream, Tailed{Error: t.told}); err != nil {
				return err
			}
		}
		if len(text) == 0 {
			return nil
		}
		if err := WriteLine(stream, Tailed{Text: text}); err != nil {
			return err
		}
	}
}
