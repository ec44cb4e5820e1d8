package virtual

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Folders of clusters lie where those of other users do, who are nobody's to look into.
func TestACleanLeavesOthersAlone(t *testing.T) {
	below := t.TempDir()
	other := filepath.Join(below, "recount-virtual-other")
	require.NoError(t, os.Mkdir(other, 0o700))
	cleaned := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // which ends with it
		if os.Geteuid() == 0 {
			unix.SetfsuidRetUid(65534) // nobody
		} else if err := os.Chmod(other, 0); err != nil {
			cleaned <- err
			return
		}
		dead, err := left(below)
		removed, failed := clean(below, true)
		if len(dead)+len(removed) > 0 {
			err = errors.Join(err, fmt.Errorf("left %v, removed %v", dead, removed))
		}
		cleaned <- errors.Join(err, failed)
	}()
	require.NoError(t, <-cleaned)
	require.DirExists(t, other)
}
