package batch

import "time"

// TellEvery is how often it is told how far work is, at most.
const TellEvery = 200 * time.Millisecond

// KeepTelling calls tell so often, from a goroutine of its own, until stop is called; no call is under way when that returns.
func KeepTelling(tell func()) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(TellEvery)
		defer t.Stop()
		for {
			select {
			case <-end:
				return
			case <-t.C:
				tell()
			}
		}
	}()
	return func() { close(end); <-ended }
}
