package cli

import (
	"bufio"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A terminal that is closed ends the program as Ctrl-C does, which cleans up; what nohup has started goes on without one.
func TestAHangupIsAnInterrupt(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("whoever runs this test has it go on without a terminal")
	}
	program, err := os.Executable()
	require.NoError(t, err)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGTERM, os.Interrupt} {
		cmd := &exec.Cmd{Path: program, Args: []string{"recount", "serve", "--results", t.TempDir(), "--listen", "127.0.0.1:0"}}
		said, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = bufio.NewReader(said).ReadString('\n') // it serves
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(s))
		require.NoError(t, cmd.Wait(), "%v", s)
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	require.False(t, slices.Contains(ends(), os.Signal(syscall.SIGHUP)))
}
