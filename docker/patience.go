package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recount/internal/hint"
)

// patience is how long a run may wait for an engine to make its containers and to start them, which takes one seconds, and
// a busy one a minute. One that hangs would be waited for for good.
const patience = 5 * time.Minute

var errHangs = errors.New("the Docker engine does not answer")

// outlast returns a context that ends a grace after ctx does. What an engine has begun to make it goes on making when
// nobody waits for it any more; to be sure that it can be removed, one must have waited. Nobody waits for longer than the engine's patience.
func (e *Engine) outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), e.patience, errHangs)
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(grace):
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); cancel() }
}

// hung says of an error, where it is since an outlasting context's patience has ended, that the engine hangs.
func hung(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), errHangs) {
		return err
	}
	if !errors.Is(err, errHangs) { // which net/http says itself
		err = fmt.Errorf("%w: %w", errHangs, err)
	}
	return hint.Add(err, "restart it; recount clean then removes what is left of the run")
}
