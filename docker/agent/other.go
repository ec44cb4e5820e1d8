//go:build !linux

package agent

import (
	"errors"
	"io"
)

// Run fails: only Linux has the means, and the containers run on Linux wherever the harness does.
func Run(io.Reader, io.WriteCloser) error { return errors.New("the agent runs on Linux only") }

// Anchor fails.
func Anchor([]string) error { return errors.New("the anchor runs on Linux only") }

// Release fails.
func Release([]string) error { return errors.New("the agent runs on Linux only") }
