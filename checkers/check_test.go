package checkers

import (
	"context"

	"recount/history"
)

// Check judges h.
func (c Checker) Check(ctx context.Context, h *history.History) Result {
	return check(ctx, h, []Checker{c})[0]
}

// CheckAll judges h by every checker, in the order of All.
func CheckAll(ctx context.Context, h *history.History) []Result { return check(ctx, h, registry) }

// CheckSome is CheckAll for some properties.
func CheckSome(ctx context.Context, h *history.History, properties []string) []Result {
	return check(ctx, h, some(properties))
}

func check(ctx context.Context, h *history.History, by []Checker) []Result {
	j := begin(by)
	for i := range h.Ops {
		j.Add(&h.Ops[i])
	}
	return j.End(ctx)
}
