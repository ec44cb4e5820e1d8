package history

import "fmt"

// Member is what a node is to the cluster, as the cluster itself has it. Who comes back after it was taken out
// is another member than it was, with nothing on its disk.
type Member struct {
	Node string     `json:"node"`
	As   Membership `json:"as"`
}

// Membership is what a node is to the cluster.
type Membership string

// What a node can be.
const (
	Voter   Membership = "voter"
	Learner Membership = "learner" // it is told what the others are told, and has no vote
	Removed Membership = "removed" // it is no member; its process may not know, or may have ended over it
)

// Memberships is the dimension's name.
const Memberships = "members"

func init() { RegisterDimension[Member](Memberships) }

// Key implements State.
func (m Member) Key() Key { return Key{Dimension: Memberships, Node: m.Node} }

// Healthy implements State.
func (m Member) Healthy() State { return Member{m.Node, Voter} }

// Merge implements State: whom one fault takes out no other makes a learner.
func (m Member) Merge(other State) State {
	if o := other.(Member); o.As == Removed || m.As == Voter {
		return o
	}
	return m
}

// Same implements State. Whether it is so the cluster is asked when it is changed.
func (m Member) Same(State) bool { return true }

// Name implements State.
func (m Member) Name() string { return "the membership of " + m.Node }

// Words implements State.
func (m Member) Words() string { return string(m.As) }

// fits says why nobody can be that, or nil.
func (m Member) fits() error {
	if m.As != Voter && m.As != Learner && m.As != Removed {
		return fmt.Errorf("%s cannot become %q: want voter, learner or removed", m.Node, m.As)
	}
	return nil
}

// Members returns the memberships among the changes.
func (c Changes) Members() []Member { return more[Member](c, Memberships) }

// Reconfigure is of a client: ask a node to have the cluster change a member; ok = that node says that it is done.
const Reconfigure F = "reconfigure"

func init() {
	asked := func(op *Op) *Member {
		m, _ := op.Value.(*Member)
		return m
	}
	register(kind{
		name: Reconfigure, ofNode: true, value: valued[Member](), when: always,
		fits: func(op *Op) error {
			m := asked(op)
			switch {
			case m == nil:
				return nil
			case m.Node == "":
				return fmt.Errorf("%s of nobody", op.F)
			}
			if err := m.fits(); err != nil {
				return fmt.Errorf("%s: %w", op.F, err)
			}
			return nil
		},
		nodes: func(op *Op) []string {
			if m := asked(op); m != nil {
				return []string{m.Node}
			}
			return nil
		},
	})
}
