//go:build amd64 || arm64

package clock

import (
	"errors"
	"fmt"
	"os"
)

// sameTimes refuses a process whose monotonic clock is not ours: one in a time namespace (time_namespaces(7)) with other offsets
// than those of our own. Engines may give each container such a namespace, in which clocks are as they are outside.
func sameTimes(pid int) error {
	own, err := timeNamespaceOf("self")
	if errors.Is(err, os.ErrNotExist) {
		return nil // this kernel has none
	}
	if err != nil {
		return err
	}
	theirs, err := timeNamespaceOf(fmt.Sprint(pid))
	if errors.Is(err, os.ErrNotExist) {
		return ErrGone
	}
	if err == nil && theirs.name != own.name && (theirs.offsets == "" || theirs.offsets != own.offsets) {
		err = errors.New("the clocks of its time namespace are not known to be those of the machine")
	}
	return err
}

// timeNamespace is one as the kernel words it. Of its offsets it tells nothing where children of the process are to be in another one.
type timeNamespace struct{ name, offsets string }

func timeNamespaceOf(process string) (n timeNamespace, err error) {
	proc := "/proc/" + process
	if n.name, err = os.Readlink(proc + "/ns/time"); err != nil {
		return n, err
	}
	children, err := os.Readlink(proc + "/ns/time_for_children")
	if err != nil || children != n.name {
		return n, err
	}
	offsets, err := os.ReadFile(proc + "/timens_offsets")
	n.offsets = string(offsets)
	return n, err
}
