package serve

import (
	"fmt"
	"log"
	"runtime/debug"
)

// guarded calls f, which goes on beside the requests. A panic of a request net/http logs, and goes on to serve; one of f is
// logged in the same way, and an error: out there it would end the server.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Printf("serve: crashed: %v\n%s", p, debug.Stack())
			err = fmt.Errorf("it crashed: %v", p)
		}
	}()
	return f()
}
