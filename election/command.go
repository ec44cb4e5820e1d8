package election

import "errors"

// Command is what a client asks of a node besides its view.
type Command struct {
	Do    Verb
	Value uint64 // Put: what to write
	Heir  ID     // Resign: who is to lead; None for any

	Who ID         // Reconfigure: whose membership is to change,
	As  Membership // and what it is to be
}

// Verb is a kind of command.
type Verb uint8

// What clients may ask for.
const (
	Get         Verb = iota + 1 // read the register: Keeper
	Put                         // write it: Keeper
	Update                      // send an update to all followers: Updater
	Resign                      // hand the leadership over: Resigner
	Reconfigure                 // change a member: Reconfigurer
)

// Keeper is a Node that keeps a register for clients: the least data that there can be behind a leader.
type Keeper interface {
	// Get reads the register, and calls done with its value, at once or from within a later call of a method. It returns
	// false, and never calls done, if the node certainly cannot: it does not lead.
	Get(done func(value uint64)) bool
	// Put writes it, likewise. A write whose done was never called may have happened.
	Put(value uint64, done func()) bool
}

// Updater is a Node whose leader tells its followers things in an order: see Env.Applied.
type Updater interface {
	// Update sends one more update, and returns false if the node certainly does not: it does not lead.
	Update() bool
}

// The errors of commands that certainly were not carried out.
var (
	ErrNotLeader = errors.New("it does not lead")
	ErrRefused   = errors.New("it refused")
	ErrCannot    = errors.New("this election cannot do that")
	ErrNoHeir    = errors.New("this election takes no wish who is to lead")
)

// Carry has a node carry out a command. done is called with the value read once it was; an error means that it never will
// be. A host calls it as it calls a node's methods.
func (c Command) Carry(n Node, done func(value uint64)) error {
	led := n.Status().Role == Leader
	can, does := false, false
	switch c.Do {
	case Get:
		var k Keeper
		if k, can = n.(Keeper); can {
			does = k.Get(done)
		}
	case Put:
		var k Keeper
		if k, can = n.(Keeper); can {
			does = k.Put(c.Value, func() { done(c.Value) })
		}
	case Update:
		var u Updater
		if u, can = n.(Updater); can {
			if does = u.Update(); does {
				done(0)
			}
		}
	case Resign:
		var r Resigner
		if r, can = n.(Resigner); can && c.Heir != None {
			return ErrNoHeir
		}
		if can && led {
			does = true
			r.Resign()
			done(0)
		}
	case Reconfigure:
		if r, can := n.(Reconfigurer); can {
			return r.Reconfigure(c.Who, c.As, done)
		}
	}
	switch {
	case !can:
		return ErrCannot
	case !does:
		return ErrNotLeader
	}
	return nil
}
