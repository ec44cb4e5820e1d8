// Package testlong marks tests that take long, on containers above all: make test-long makes them, and make test, which is
// what people wait for, those that show each part at work.
package testlong

import (
	"os"
	"testing"
)

// Only skips a test that is not among those that were asked for.
func Only(t testing.TB) {
	t.Helper()
	if os.Getenv("RECOUNT_LONG") == "" {
		t.Skip("takes long: make test-long makes it")
	}
}
