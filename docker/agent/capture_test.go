//go:build linux

package agent

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestWhatNodesSayIsCopiedAsItLeavesAndAsItArrivesBehindAllFaults(t *testing.T) {
	a := twoPlaces(t)
	one, two := a.places["n1"], a.places["n2"]
	a.impose(t)
	harness, stream := net.Pipe()
	for family := range two.addrs {
		var l net.Listener
		require.NoError(t, two.space.do(func() (err error) {
			l, err = net.ListenTCP("tcp", &net.TCPAddr{IP: two.addrs[family].AsSlice(), Port: 7000})
			return err
		}))
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go io.Copy(c, c)
			}
		}()
	}
	ended := make(chan struct{})
	go func() {
		a.capture(stream, Capture{Nodes: []string{"n1", "n2"}, Ports: []int{7000, 7001}})
		close(ended)
	}()
	var answer Capturing
	require.NoError(t, ReadLine(harness, &answer))
	require.Empty(t, answer.Error)
	copies := make(chan *Packet, 1000)
	go func() {
		for r := bufio.NewReader(harness); ; {
			p, err := ReadPacket(r)
			if err != nil {
				close(copies)
				return
			}
			copies <- p
		}
	}()
	var seen []*Packet // those of two places may come in any order
	// saw waits for a copy at that place of a packet of so many bytes, with such words in it.
	saw := func(node int, left bool, long int, words string) {
		t.Helper()
		for limit := time.After(arriving); ; {
			if slices.ContainsFunc(seen, func(p *Packet) bool {
				return p.Node == node && p.Left == left && len(p.Bytes) >= long && strings.Contains(string(p.Bytes), words)
			}) {
				return
			}
			select {
			case p := <-copies:
				require.Zero(t, p.Missed)
				if !p.Left {
					require.LessOrEqual(t, len(p.Bytes), headersMost, "of what arrives the headers are enough")
				}
				seen = append(seen, p)
			case <-limit:
				t.Fatalf("no copy of %q at node %d", words, node)
			}
		}
	}
	for family := range two.addrs {
		var conn net.Conn
		require.NoError(t, one.space.do(func() (err error) {
			conn, err = net.Dial("tcp", net.JoinHostPort(two.addrs[family].String(), "7000"))
			return err
		}))
		saw(0, true, 40, "") // the beginning
		saw(1, false, 40, "")
		_, err := conn.Write([]byte("hello" + strings.Repeat(".", 1000)))
		require.NoError(t, err)
		saw(0, true, 1000, "hello")
		saw(1, true, 1000, "hello") // the echo

		a.impose(t, link("n1", "n2", 0, history.LinkState{Cut: true}))
		_, err = conn.Write([]byte("lost" + strings.Repeat(".", 1000)))
		require.NoError(t, err)
		seen = nil
		saw(0, true, 1000, "lost")
		seen = nil
		saw(0, true, 1000, "lost") // again
		seen = slices.DeleteFunc(seen, func(p *Packet) bool { return p.Node == 0 || p.Left })
		require.Empty(t, seen, "what is cut off does not arrive")
		a.impose(t, link("n1", "n2", 0, history.LinkState{}))
		saw(1, true, 1000, "lost") // the echo at last
		conn.Close()
		seen = nil
	}
	harness.Close()
	<-ended
	for range copies {
	}
}
