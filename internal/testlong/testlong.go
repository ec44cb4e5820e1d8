// Package testlong marks tests that take long, on containers above all: make test-long makes them, and make test, which is
// what people wait for, those that show each part at work.
package testlong

import (
	"os"
	"testing"
)

// Asked reports whether tests that take long are to be made.
func Asked() bool { return os.Getenv("RECOUNT_LONG") != "" }

// Only skips a test unless those that take long are to be made.
func Only(t testing.TB) {
	t.Helper()
	if !Asked() {
		t.Skip("takes long: make test-long makes it")
	}
}
