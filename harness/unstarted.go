package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"recount/harness/record"
	"recount/internal/hint"
)

// Unstarted is the error of a run whose nodes did not come up: one ended by itself before it was ready, or was not ready in time. It may
// be the server's doing, or the size's of its cluster, or a description's of the target. Those who make many runs go on without it.
type Unstarted struct {
	Dir string // the run's folder, with the nodes' logs; "" where nothing is kept
	err error
}

func (u *Unstarted) Error() string { return u.err.Error() }
func (u *Unstarted) Unwrap() error { return u.err }

// unstarted marks err as that of a run whose nodes did not come up.
func unstarted(err error) error { return &Unstarted{err: err} }

// DidNotStart returns what err says of a run whose nodes did not come up, or nil if it says something else.
func DidNotStart(err error) *Unstarted {
	var u *Unstarted
	if errors.As(err, &u) {
		return u
	}
	return nil
}

// fail puts into the folder of a run that could not be made to its end why that is so: nothing was judged.
func (r *run) fail(rep *record.Run, failed error) error {
	if u := DidNotStart(failed); u != nil {
		u.Dir = rep.Dir
	}
	rep.Status = record.StatusFailed
	rep.Notes = append(slices.Concat(r.notes, r.told), hint.Line(failed))
	rep.Took = time.Since(rep.Started)
	return record.Save(rep)
}

// KeepUnstarted gives a run that did not start, as failed says, a folder under results, and the command that repeats it there. One that
// left nothing is made again for it. It returns the folder.
func KeepUnstarted(ctx context.Context, p record.Plan, failed *Unstarted, results string, repeat func(dir string) string) (dir string, err error) {
	if failed.Dir == "" {
		_, again := Run(ctx, p, Config{Results: results})
		u := DidNotStart(again)
		switch {
		case again == nil:
			return "", fmt.Errorf("the run of seed %d did not start, and when it was made again it did", p.Seed)
		case u == nil:
			return "", again
		}
		dir = u.Dir
	} else {
		if dir, err = makeFolder(results, p.Target); err == nil {
			err = move(failed.Dir, dir)
		}
		if err != nil {
			return "", err
		}
		record.Latest(results, dir)
	}
	r, err := record.Outline(dir)
	if err != nil {
		return "", err
	}
	r.Repeat = repeat(dir)
	return dir, record.Save(r)
}

// KeepUnstartedAs gives a run that did not start the folder dir, as KeepUnstarted does under results, and the command that repeats it. The
// folder is there with all of it, or not at all.
func KeepUnstartedAs(ctx context.Context, p record.Plan, failed *Unstarted, dir, repeat string) error {
	return appears(dir, func(scratch string) (string, error) {
		return KeepUnstarted(ctx, p, failed, scratch, func(string) string { return repeat })
	})
}

// Starts counts which runs started, by what they have in common: by the sizes of their clusters, since some servers take odd numbers
// alone, or by their scenarios and targets. It may be used from several goroutines at once.
type Starts[K comparable] struct {
	mu          sync.Mutex
	did, failed map[K]int
}

// Hopeless reports whether clusters of a size are given up of which so many started, and so many did not.
func Hopeless(started, failed int) bool { return started == 0 && failed >= 3 }

// Note takes up whether a run of a kind started.
func (s *Starts[K]) Note(of K, started bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.did == nil {
		s.did, s.failed = map[K]int{}, map[K]int{}
	}
	if started {
		s.did[of]++
	} else {
		s.failed[of]++
	}
}

// Of is how many runs of a kind started, and how many did not.
func (s *Starts[K]) Of(of K) (did, failed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.did[of], s.failed[of]
}

// Never reports whether runs of a kind are given up.
func (s *Starts[K]) Never(of K) bool { return Hopeless(s.Of(of)) }
