package cli

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is being answered when the program is to end is answered, before what it is answered from is closed.
func TestServingEndsAfterItsAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	var answered atomic.Bool
	ended := make(chan bool, 1)
	asked := make(chan struct{})
	go func() {
		err := answerUntil(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(asked)
			<-ctx.Done()
			time.Sleep(100 * time.Millisecond)
			answered.Store(true)
			_, _ = io.WriteString(w, "whole")
		}))
		ended <- err == nil && answered.Load()
	}()
	go func() {
		<-asked
		end()
	}()
	resp, err := http.Get("http://" + l.Addr().String())
	require.NoError(t, err)
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, "whole", string(said))
	require.True(t, <-ended, "it ended before the answer")
}
