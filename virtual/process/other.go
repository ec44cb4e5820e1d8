//go:build !linux

package process

import (
	"errors"
	"time"
)

// Process is a node: there are none but on Linux.
type Process struct{}

var errElsewhere = errors.New("virtual time runs on Linux only")

// Start fails.
func Start(Options) (*Process, error) { return nil, errElsewhere }

// Run fails.
func (*Process) Run(Grant) (Report, error) { return Report{}, errElsewhere }

// GiveUp fails.
func (*Process) GiveUp(string) error { return errElsewhere }

// Quit does nothing.
func (*Process) Quit() {}

// PID is none.
func (*Process) PID() int { return 0 }

// Kill does nothing.
func (*Process) Kill() error { return nil }

// Used is nothing.
func (*Process) Used() time.Duration { return 0 }
