package targets

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"recount/election"
)

// Libraries run in a server whose main package is Recount's own, in the library's recipe. It answers GET /status with its
// view, as one object, and prints the same object when the library tells of a change.

// ownView is such an object.
type ownView interface {
	// status is what it says; it is an error if it is not self's, or says nothing yet. torn tells that its parts may not
	// belong together.
	status(self election.ID) (s election.Status, torn bool, err error)
}

// ownObserver asks such a server.
type ownObserver[V ownView] struct {
	*asker
	target string
	self   election.ID
}

// Observe asks for the view.
func (o *ownObserver[V]) Observe(ctx context.Context) (election.Status, bool, error) {
	var v V
	err := o.ask(ctx, "/status", &v)
	if err == nil {
		var s election.Status
		var torn bool
		if s, torn, err = v.status(o.self); err == nil {
			return s, torn, nil
		}
	}
	return election.Status{}, false, fmt.Errorf("targets: %s: observe %v: %w", o.target, o.self, err)
}

// readOwnLine reads a line of such a server's log: false if it is no view.
func readOwnLine[V ownView](self election.ID, line string) (election.Status, bool) {
	var v V
	if !strings.HasPrefix(line, `{"id":`) || json.Unmarshal([]byte(line), &v) != nil {
		return election.Status{}, false
	}
	status, _, err := v.status(self)
	return status, err == nil
}
