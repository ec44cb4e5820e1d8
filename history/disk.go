package history

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Disk is the state of the disk that one node keeps its data on. What a crash of the machine loses is no state of the
// disk but a consequence of the process's, Crashed; what of the last write it leaves is.
type Disk struct {
	Node string `json:"node"`
	DiskState
}

// DiskState is how a disk fails its node. The zero value is a healthy disk.
type DiskState struct {
	Full        bool          `json:"full,omitempty"`        // nothing can be written that takes more room (ENOSPC)
	Slow        time.Duration `json:"slow,omitempty"`        // added to each sync
	WriteErrors float64       `json:"writeErrors,omitempty"` // chance that a write fails (EIO), 0 to 1
	SyncErrors  float64       `json:"syncErrors,omitempty"`  // chance that a sync fails, and has written nothing
	ReadErrors  float64       `json:"readErrors,omitempty"`  // chance that a read fails
	Wiped       bool          `json:"wiped,omitempty"`       // all that was on it is gone; the process is down meanwhile
	Torn        bool          `json:"torn,omitempty"`        // a crash leaves some sectors of the last write that was not synced
	Scattered   bool          `json:"scattered,omitempty"`   // a crash leaves any part of what was not synced
}

// fits says why a disk is none, or nil.
func (d Disk) fits() error {
	return cmp.Or(
		chance(d.Name(), "writeErrors", d.WriteErrors), chance(d.Name(), "syncErrors", d.SyncErrors), chance(d.Name(), "readErrors", d.ReadErrors),
		amount(d.Name(), "slow", int64(d.Slow)),
	)
}

// And is the state of a disk that fails in two ways at once.
func (s DiskState) And(t DiskState) DiskState {
	return DiskState{
		Full:        s.Full || t.Full,
		Slow:        s.Slow + t.Slow,
		WriteErrors: either(s.WriteErrors, t.WriteErrors),
		SyncErrors:  either(s.SyncErrors, t.SyncErrors),
		ReadErrors:  either(s.ReadErrors, t.ReadErrors),
		Wiped:       s.Wiped || t.Wiped,
		Torn:        s.Torn || t.Torn,
		Scattered:   s.Scattered || t.Scattered,
	}
}

// Left is as much of the state as says what a crash leaves: the disk itself does what it is asked.
func (s DiskState) Left() DiskState { return DiskState{Torn: s.Torn, Scattered: s.Scattered} }

// Fails reports whether an operation on the disk may fail, as opposed to taking its time: a process may end over it.
func (s DiskState) Fails() bool {
	return s.Full || s.WriteErrors > 0 || s.SyncErrors > 0 || s.ReadErrors > 0
}

// String is what people call it: "full", "syncs take 200ms longer, 30% of reads fail".
func (s DiskState) String() string {
	var words []string
	add := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(s.Wiped, "wiped")
	add(s.Torn, "torn in the midst of a write")
	add(s.Scattered, "left with any part of what was not synced")
	add(s.Full, "full")
	add(s.Slow > 0, "syncs take %v longer", s.Slow)
	add(s.WriteErrors > 0, "%.3g%% of writes fail", 100*s.WriteErrors)
	add(s.SyncErrors > 0, "%.3g%% of syncs fail", 100*s.SyncErrors)
	add(s.ReadErrors > 0, "%.3g%% of reads fail", 100*s.ReadErrors)
	if len(words) == 0 {
		return "healthy"
	}
	return strings.Join(words, ", ")
}

// Key implements State.
func (d Disk) Key() Key { return Key{Dimension: ofDisks, Node: d.Node} }

// Healthy implements State.
func (d Disk) Healthy() State { return Disk{Node: d.Node} }

// Merge implements State.
func (d Disk) Merge(other State) State { return Disk{d.Node, d.And(other.(Disk).DiskState)} }

// Same implements State.
func (d Disk) Same(other State) bool { return d == other }

// Name implements State.
func (d Disk) Name() string { return "the disk of " + d.Node }

// Words implements State.
func (d Disk) Words() string { return d.String() }
