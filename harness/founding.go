package harness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"recount/election"
	"recount/internal/hint"
	"recount/nemesis"
)

// founded is a cluster of a real system that a part of its members founds: the others are added to it, and started then.
type founded interface {
	nemesis.Cluster
	renewed
	Command(name string, cmd election.Command, done func(value uint64, err error))
	Run(ctx context.Context, until time.Duration) error
	// launch starts members.
	launch(ctx context.Context, some []election.Member) error
	// ready lets the loop go on until each of these is ready.
	ready(ctx context.Context, some []election.Member) error
	// waits tells whom is waited for.
	waits(line string)
	// listens says on which ports a node waits for connections, "" where nobody can tell.
	listens(ctx context.Context, name string) string
	// endedEarly is an error if a process has ended by itself.
	endedEarly(ctx context.Context) error
}

// joinPatience is how long members may take to add others, and how long these may take to say that they belong to the cluster.
const joinPatience = 30 * time.Second

// found starts the members that are of the cluster from the beginning. Of a system that has others, these are added to it, all of
// them before the first is started, so that each is told of all.
func found(ctx context.Context, c founded, system election.System, all []election.Member) error {
	founders, late := all, []election.Member(nil)
	if f, ok := system.(election.Founded); ok {
		founders = slices.DeleteFunc(slices.Clone(all), func(m election.Member) bool { return !f.Founds(m.ID) })
		late = slices.DeleteFunc(slices.Clone(all), func(m election.Member) bool { return f.Founds(m.ID) })
	}
	if err := begin(ctx, c, system, founders); err != nil || len(late) == 0 {
		return err
	}
	for _, m := range late {
		asked := 0
		if err := joins(ctx, c, fmt.Sprintf("%s was not added to the cluster", m.Name), func(done func(error)) {
			founder := founders[asked%len(founders)]
			asked++
			c.Command(founder.Name, election.Command{Do: election.Reconfigure, Who: m.ID, As: election.Learner}, func(_ uint64, err error) { done(err) })
		}); err != nil {
			return err
		}
	}
	if err := c.launch(ctx, late); err != nil {
		return err
	}
	for _, m := range late {
		if err := joins(ctx, c, fmt.Sprintf("%s was added to the cluster, and does not say so", m.Name), func(done func(error)) {
			c.Sees(m.Name, m.ID, func(as election.Membership, err error) {
				if err == nil && as != election.Learner {
					err = fmt.Errorf("it takes itself for a %v", as)
				}
				done(err)
			})
		}); err != nil {
			return err
		}
	}
	return nil
}

// begin starts members, all at once, or in turn: some once those before them are ready.
func begin(ctx context.Context, c founded, system election.System, all []election.Member) error {
	turns := [][]election.Member{all}
	if t, ok := system.(election.InTurn); ok {
		turns = t.Turns(all)
	}
	for _, turn := range turns {
		if err := c.launch(ctx, turn); err != nil {
			return err
		}
		if len(turns) == 1 {
			break // all are waited for together
		}
		if err := c.ready(ctx, turn); err != nil {
			return err
		}
	}
	return nil
}

// joins tries again and again, until that works. What never answers is tried again, too.
func joins(ctx context.Context, c founded, problem string, try func(done func(error))) error {
	deadline := c.Now() + joinPatience
	why := fmt.Errorf("nobody answers")
	for c.Now() < deadline {
		done, limit := false, c.Now()+answerWithin
		try(func(err error) {
			if !done {
				done, why = true, err
			}
		})
		for again := c.Now() + retry; !done && c.Now() < limit || c.Now() < again && why != nil; {
			if err := c.Run(ctx, c.Now()+step); err != nil {
				return err
			}
			if err := c.endedEarly(ctx); err != nil {
				return err
			}
		}
		if done && why == nil {
			return nil
		}
		done = true // what comes later comes too late
	}
	return unstarted(hint.Add(fmt.Errorf("%s within %v: %w", problem, joinPatience, why), "its log, and those of the voters, may tell why"))
}
