package member

import (
	"context"
	"io"
	"log"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
)

// patience is how long a test waits for what must happen, on a machine that is busy.
const patience = 30 * time.Second

// control serves a journal on the loopback and returns how to dial it.
func control(t *testing.T, j *journal, v history.View) func() net.Conn {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() {
		served <- serveControl(t.Context(), l, j, func(context.Context) (history.View, bool) { return v, true }, obey, log.New(t.Output(), "", 0))
	}()
	t.Cleanup(func() {
		l.Close()
		require.ErrorIs(t, <-served, net.ErrClosed)
	})
	return func() net.Conn {
		conn, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		return conn
	}
}

// shaky is a listener that fails a few times before it takes the next connection.
type shaky struct {
	net.Listener
	fails int
}

func (s *shaky) Accept() (net.Conn, error) {
	if s.fails--; s.fails >= 0 {
		return nil, syscall.ENOBUFS
	}
	return s.Listener.Accept()
}

// A node goes on where the machine has no room for a connection just now.
func TestClientsAreTakenAfterAnError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var said strings.Builder
	ask := func(context.Context) (history.View, bool) { return history.View{Term: 3}, true }
	served := make(chan error, 1)
	go func() {
		served <- serveControl(t.Context(), &shaky{l, 2}, newJournal(1), ask, obey, log.New(&said, "", 0))
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	client := NewClient(conn, Mark{}, nil)
	v, err := client.View(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, v.Term)
	client.Close()
	l.Close()
	require.ErrorIs(t, <-served, net.ErrClosed)
	require.Equal(t, "accept clients: no buffer space available\n", said.String(), "once")
}

// obey carries out reads, and refuses everything else.
func obey(_ context.Context, c election.Command, done func(uint64, error)) bool {
	if c.Do == election.Get {
		done(7, nil)
	} else {
		done(0, election.ErrCannot)
	}
	return true
}

func TestClientGivesCommands(t *testing.T) {
	client := NewClient(control(t, newJournal(1), history.View{})(), Mark{}, nil)
	defer client.Close()
	got, err := client.Command(t.Context(), election.Command{Do: election.Get})
	require.NoError(t, err)
	require.EqualValues(t, 7, got)
	_, err = client.Command(t.Context(), election.Command{Do: election.Put, Value: 1})
	require.ErrorIs(t, err, Refused(election.ErrCannot.Error()))
}

func announceTerm(j *journal, term uint64) {
	j.add(Announcement{View: &history.View{Role: history.Leader, Term: term, Leader: "n1", Tenure: term}})
}

// heard collects the next n announcements.
func heard(t *testing.T, c <-chan Announcement, n int) (list []Announcement) {
	for len(list) < n {
		select {
		case a := <-c:
			list = append(list, a)
		case <-time.After(patience):
			require.FailNow(t, "announcements are missing", "%d of %d came", len(list), n)
		}
	}
	return list
}

func TestClientHearsAndAsks(t *testing.T) {
	j := newJournal(7)
	v := history.View{Role: history.Candidate, Term: 4}
	dial := control(t, j, v)
	j.add(Announcement{Vote: &history.Vote{Term: 1, For: "n2"}})
	c := make(chan Announcement, 10)
	client := NewClient(dial(), Mark{}, func(a Announcement) { c <- a })
	announceTerm(j, 2)
	require.Equal(t, []Announcement{
		{Mark: Mark{7, 1}, Vote: &history.Vote{Term: 1, For: "n2"}},
		{Mark: Mark{7, 2}, View: &history.View{Role: history.Leader, Term: 2, Leader: "n1", Tenure: 2}},
	}, heard(t, c, 2))
	got, err := client.View(t.Context())
	require.NoError(t, err)
	require.Equal(t, v, got)
	client.Close()
	_, err = client.View(t.Context())
	require.Error(t, err)
}

func TestReconnectedClientMissesNothing(t *testing.T) {
	j := newJournal(1)
	dial := control(t, j, history.View{})
	c := make(chan Announcement, 10)
	announceTerm(j, 1)
	first := NewClient(dial(), Mark{}, func(a Announcement) { c <- a })
	last := heard(t, c, 1)[0].Mark
	first.Close()
	announceTerm(j, 2)
	announceTerm(j, 3)
	second := NewClient(dial(), last, func(a Announcement) { c <- a })
	announceTerm(j, 4)
	for i, a := range heard(t, c, 3) {
		require.Equal(t, uint64(i+2), a.View.Term)
		require.Zero(t, a.Lost)
		last = a.Mark
	}
	second.Close()
	require.ErrorContains(t, second.Err(), "closed")

	next := newJournal(2)
	announceTerm(next, 5)
	third := NewClient(control(t, next, history.View{})(), last, func(a Announcement) { c <- a })
	defer third.Close()
	require.Equal(t, uint64(5), heard(t, c, 1)[0].View.Term, "a new process is heard from its beginning")
}

func TestJournalTellsWhatItLost(t *testing.T) {
	j := newJournal(1)
	for term := range uint64(kept + 10) {
		announceTerm(j, term+1)
	}
	list, _ := j.after(Mark{1, 4})
	require.Len(t, list, kept)
	require.Equal(t, uint64(6), list[0].Lost)
	require.Equal(t, uint64(11), list[0].View.Term)
	require.Equal(t, Mark{1, kept + 10}, list[kept-1].Mark)
	list, _ = j.after(Mark{1, 10})
	require.Zero(t, list[0].Lost)
	list, grown := j.after(Mark{1, kept + 10})
	require.Empty(t, list)
	announceTerm(j, 1)
	<-grown
}

func TestClientOfAStranger(t *testing.T) {
	here, there := net.Pipe()
	client := NewClient(here, Mark{}, nil)
	_, err := io.WriteString(there, "HTTP/1.1 400 Bad Request\n")
	require.NoError(t, err)
	<-client.Done()
	require.ErrorContains(t, client.Err(), `"HTTP/1.1 400 Bad Request"`)
}

// A node that stands still reads nothing, and in the end nothing more can be written to it.
func TestANodeThatReadsNothingHoldsNobody(t *testing.T) {
	here, _ := net.Pipe()
	client := NewClient(here, Mark{}, nil)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, err := client.View(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		cancel()
	}
	client.Close()
	_, err := client.View(t.Context())
	require.Error(t, err)
}

func TestStrangeClientIsHungUpOn(t *testing.T) {
	dial := control(t, newJournal(1), history.View{})
	for _, text := range []string{
		"GET / HTTP/1.1\r\n\r\n",
		`{"ask":"everything"}` + "\n",
		string(make([]byte, 2*maxLine)),
	} {
		conn := dial()
		_, err := io.WriteString(conn, text)
		require.NoError(t, err)
		answer, _ := io.ReadAll(conn) // may end by a reset
		require.Empty(t, answer)
	}
}
