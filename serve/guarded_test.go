package serve

import (
	"bytes"
	"io/fs"
	"log"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

// crashing are files whose reading crashes.
type crashing struct{ fs.FS }

func (crashing) ReadDir(string) ([]fs.DirEntry, error) { panic("no such slot") }

// A server outlives a crash of what it reads beside the requests.
func TestACrashBesideRequestsIsLogged(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	defer log.SetOutput(os.Stderr)

	d := digests{read: func(string) (*digest, error) { panic("no such op") }, clock: time.Now}
	have, missing := d.of(t.Context(), []*Run{{ID: "a"}})
	require.Empty(t, have)
	require.Zero(t, missing, "it was tried")
	require.Contains(t, logged.String(), "no such op")

	x := newIndex(crashing{fstest.MapFS{}}, time.Now)
	shown := x.shown
	require.ErrorContains(t, x.refresh(), "no such slot")
	require.False(t, x.busy)
	require.Same(t, shown, x.shown)
}
