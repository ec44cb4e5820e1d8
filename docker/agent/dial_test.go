//go:build linux

package agent

import (
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// scripted is a listener that fails as it is told, and then is closed.
type scripted struct {
	net.Listener
	fails []error
}

func (s *scripted) Accept() (net.Conn, error) {
	if len(s.fails) == 0 {
		return nil, net.ErrClosed
	}
	err := s.fails[0]
	s.fails = s.fails[1:]
	return nil, err
}

func TestListeningOutlivesWantOfFiles(t *testing.T) {
	l := &scripted{fails: []error{syscall.EMFILE, syscall.EMFILE}}
	(&agent{}).accept(l, Port{Node: "n1"})
	require.Empty(t, l.fails)
}
