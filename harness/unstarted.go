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
	// explained says that its hint is about what a node wrote: nothing else that is known of the node helps more.
	explained bool
}

func (u *Unstarted) Error() string { return u.err.Error() }
func (u *Unstarted) Unwrap() error { return u.err }

// unstarted marks err as that of a run whose nodes did not come up.
func unstarted(err error) error { return &Unstarted{err: err} }

// explains tells whether err says of nodes that did not come up what to do about what one of them wrote.
func explains(err error) bool {
	u := DidNotStart(err)
	return u != nil && u.explained
}

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
// left nothing is made again for it, so that the nodes' logs are there, too, unless ctx ends. It returns the folder.
func KeepUnstarted(ctx context.Context, p record.Plan, failed *Unstarted, results string, repeat func(dir string) string) (dir string, err error) {
	dir, err = failed.keep(ctx, p, results)
	if err != nil && failed.Dir == "" && ctx.Err() != nil {
		dir, err = failed.outline(p, results)
	}
	if err != nil {
		return "", err
	}
	record.Latest(results, dir)
	return dir, repeatedBy(dir, repeat(dir))
}

// KeepUnstartedAs gives a run that did not start the folder dir, as KeepUnstarted does under results, and the command that repeats it. The
// folder is there with all of it, or not at all: when ctx ends while the run is made again, the error is that of ctx.
func KeepUnstartedAs(ctx context.Context, p record.Plan, failed *Unstarted, dir, repeat string) error {
	return appears(dir, func(scratch string) (string, error) {
		made, err := failed.keep(ctx, p, scratch)
		if err != nil {
			return "", err
		}
		return made, repeatedBy(made, repeat)
	})
}

// keep gives the run a folder under results: the one that it left, or that of the same run made again.
func (u *Unstarted) keep(ctx context.Context, p record.Plan, results string) (dir string, err error) {
	if u.Dir == "" {
		return madeAgain(ctx, p, results)
	}
	if dir, err = makeFolder(results, p.Target); err != nil {
		return "", err
	}
	return dir, move(u.Dir, dir)
}

// madeAgain makes a run again that did not start, and returns its folder.
func madeAgain(ctx context.Context, p record.Plan, results string) (dir string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r, err := Run(ctx, p, Config{Results: results})
	u := DidNotStart(err)
	switch {
	case u != nil:
		return u.Dir, nil
	case err != nil:
		return "", err
	case ctx.Err() != nil: // what there is of it shows nothing
		return "", errors.Join(ctx.Err(), record.Drop(results, r.Dir))
	}
	return "", fmt.Errorf("the run of seed %d did not start, and when it was made again it did", p.Seed)
}

// outline gives the run a folder with nothing but its plan and why it did not start.
func (u *Unstarted) outline(p record.Plan, results string) (dir string, err error) {
	s, err := resolve(p)
	if err != nil {
		return "", Usage(err)
	}
	r := &run{subject: s, Config: Config{Results: results}}
	rep, err := r.open()
	if err != nil {
		return "", err
	}
	return rep.Dir, r.fail(rep, &Unstarted{err: u.err})
}

// repeatedBy notes in a run's folder which command repeats it.
func repeatedBy(dir, command string) error {
	r, err := record.Outline(dir)
	if err != nil {
		return err
	}
	r.Repeat = command
	return record.Save(r)
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
