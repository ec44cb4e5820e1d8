package election

import (
	"context"
	"errors"
	"fmt"
)

// Membership is what a node is to a cluster that can change who its members are.
type Membership uint8

// What a node can be made.
const (
	Removed Membership = iota + 1 // no member
	Learner                       // a member without a vote
	Voter
)

var memberships = [...]string{Removed: "removed", Learner: "learner", Voter: "voter"}

// String is the word for it in histories.
func (m Membership) String() string {
	if m >= Removed && m <= Voter {
		return memberships[m]
	}
	return fmt.Sprintf("membership %d", uint8(m))
}

// ErrNotYet says that a member certainly was not changed, and can be a little later: a learner that has not caught up.
var ErrNotYet = fmt.Errorf("%w for now", ErrRefused)

// Certain reports whether an error says that what was asked for certainly was not done, nor will be.
func Certain(err error) bool {
	for _, certain := range []error{ErrNotLeader, ErrRefused, ErrNoHeir, ErrCannot} {
		if errors.Is(err, certain) {
			return true
		}
	}
	return false
}

// Reconfigurer is a Node that can change who the members are. Each change is of one member. Who is added where it was removed is
// another member than it was: its process is ended, its storage emptied, and its Env is Admitted.
type Reconfigurer interface {
	// Reconfigure makes somebody a voter, a learner or nothing, and calls done when that is committed, at once or from within a
	// later call of a method. It returns an error that is Certain, and never calls done, if it certainly does not. To make
	// somebody what it is already is done at once.
	Reconfigure(who ID, as Membership, done func(ticket uint64)) error
	// Membership is what this node takes somebody for; 0 for what it cannot tell.
	Membership(who ID) Membership
}

// Admitted is an Env of a node that may have been added since the cluster began.
type Admitted interface {
	// Ticket is what done of Reconfigure was told when it was added; 0 if it has been a member from the beginning.
	Ticket() uint64
}

// Reconfigurable is a System whose members can be changed while it runs, by an API of its own.
type Reconfigurable interface {
	// Reconfigure asks self to make somebody a voter, a learner or nothing. It returns nil if the cluster says that this is
	// so; an error that is Certain if it certainly is not, nor will be; any other if nobody knows. To make somebody what it is
	// already is done at once. When ctx ends nobody waits for it any more.
	//
	// Once somebody was added, Container says how it is to be started, as another member than it was and with nothing of what
	// that kept. Its process has ended by then.
	Reconfigure(ctx context.Context, self Member, all []Member, who ID, as Membership, dial Dial) error
	// Membership is what self itself takes somebody for.
	Membership(ctx context.Context, self Member, all []Member, who ID, dial Dial) (Membership, error)
}

// Learnerless is a Reconfigurable whose cluster may have no learners: who is added votes at once.
type Learnerless interface {
	Reconfigurable
	// Learnerless reports whether it is so.
	Learnerless() bool
}

// InTurn is a System whose members need others that are there already: some are started once those before them are ready, by its Readier.
type InTurn interface {
	Readier
	// Turns are all members in the order in which they are started, those of one turn at once.
	Turns(all []Member) [][]Member
}

// Founded is a System that a part of the members founds. The others are added by these, as learners, before they are first started.
type Founded interface {
	Reconfigurable
	// Founds reports whether a member is of the cluster from the beginning.
	Founds(self ID) bool
}
