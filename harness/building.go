package harness

import (
	"context"
	"sync/atomic"

	"recount/internal/gobuild"
)

// What runs need may have to be built first, which takes minutes: that is told, whatever else is told of them.

type buildingKey struct{}

// Building has tell told what is built for runs that tell nothing of themselves, as those of a hunt do. It is called from any goroutine.
func Building(ctx context.Context, tell func(line string)) context.Context {
	return context.WithValue(ctx, buildingKey{}, tell)
}

// heard is a configuration in which there is somebody to tell: what is built, and all else, or nobody.
func (c Config) heard(ctx context.Context) Config {
	silence := func(string) {}
	if c.building = c.Progress; c.Progress == nil {
		c.Progress, c.building = silence, silence
		if tell, ok := ctx.Value(buildingKey{}).(func(string)); ok {
			c.building = tell
		}
	}
	return c
}

// condensed takes a line for each of hundreds of steps, and has told now and then what they are steps of, how long it has taken and what the
// last was, until end is called.
func condensed(what string, progress func(string)) (each func(line string), end func()) {
	var last atomic.Pointer[string]
	far := func() string {
		if line := last.Load(); line != nil {
			return ", " + *line
		}
		return ""
	}
	return func(line string) { last.Store(&line) }, gobuild.Tell(what, far, progress)
}
