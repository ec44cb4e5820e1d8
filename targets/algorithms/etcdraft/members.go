package etcdraft

import (
	"encoding/binary"
	"fmt"

	raftlib "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
	"google.golang.org/protobuf/proto"

	"recount/election"
)

// How members change, one at a time: by entries of the log that take effect when they are applied, as the library's documentation
// says: https://pkg.go.dev/go.etcd.io/raft/v3#hdr-Usage. Who is added where it was removed gets an id of the library's that nobody
// had before: the lowest byte is the node's number, and the others are drawn.

// nodeOf is the node that has an id of the library's.
func nodeOf(raft uint64) election.ID { return election.ID(raft & 0xff) }

// admission is a change that this node has asked the leader for.
type admission struct {
	who  election.ID
	as   election.Membership
	done func(ticket uint64)
}

// seat finds somebody among the members, as far as this node has applied the log: its id, 0 if it is none.
func (n *etcdRaft) seat(who election.ID) (raft uint64, as election.Membership) {
	for _, id := range n.conf.GetVoters() {
		if nodeOf(id) == who {
			return id, election.Voter
		}
	}
	for _, id := range n.conf.GetLearners() {
		if nodeOf(id) == who {
			return id, election.Learner
		}
	}
	return 0, election.Removed
}

// Membership implements election.Reconfigurer.
func (n *etcdRaft) Membership(who election.ID) election.Membership {
	_, as := n.seat(who)
	return as
}

// Reconfigure implements election.Reconfigurer. Any node can be asked, and passes it on to the leader; who promotes a learner has to
// lead, since nobody else knows whether that has caught up. What is so already is only sure once an entry has gone through the log.
func (n *etcdRaft) Reconfigure(who election.ID, as election.Membership, done func(ticket uint64)) (err error) {
	raft, is := n.seat(who)
	change, kind := pb.ConfChangeAddNode, adds
	switch {
	case is == as:
	case as == election.Removed && is == election.Voter && len(n.conf.GetVoters()) == 1:
		return fmt.Errorf("%w: %v is the last voter", election.ErrRefused, who)
	case as == election.Removed:
		change = pb.ConfChangeRemoveNode
	case is == election.Voter:
		return fmt.Errorf("%w: %v votes, and has to be taken out first", election.ErrRefused, who)
	case is == election.Learner && n.view.RaftState != raftlib.StateLeader:
		return election.ErrNotLeader
	case is == election.Learner && !n.caughtUp(raft):
		return fmt.Errorf("%w: %v has not caught up", election.ErrNotYet, who)
	case is == election.Learner:
		kind = promotes
	case as == election.Learner:
		change = pb.ConfChangeAddLearnerNode
	}
	if raft == 0 && as != election.Removed {
		raft = uint64(n.env.Rand().Uint32())<<8 | uint64(who)
	}
	token := n.env.Rand().Uint64()
	note := binary.BigEndian.AppendUint64([]byte{kind}, token)
	n.guard(func() error {
		if is == as {
			err = n.node.Propose(note)
		} else {
			err = n.node.ProposeConfChange(&pb.ConfChange{Type: change.Enum(), NodeId: proto.Uint64(raft), Context: note})
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", election.ErrNotYet, err)
		} else {
			n.admissions[token] = admission{who, as, done}
		}
		return nil
	})
	return err
}

// What the note with a change says of it.
const (
	adds     = byte('a') // or takes out
	promotes = byte('p')
)

// caughtUp reports whether a leader knows somebody to have all that is committed.
func (n *etcdRaft) caughtUp(raft uint64) (is bool) {
	n.node.WithProgress(func(id uint64, _ raftlib.ProgressType, p tracker.Progress) {
		is = is || id == raft && p.Match >= n.view.GetCommit()
	})
	return is
}

// reseat carries out the changes of members among entries that are committed. Who proposed one may not have known the latest before:
// nobody is added who is there, nor promoted who is no learner.
func (n *etcdRaft) reseat(entries []*pb.Entry) {
	for _, e := range entries {
		note := e.GetData()
		if e.GetType() == pb.EntryConfChange {
			var change pb.ConfChange
			if err := proto.Unmarshal(e.GetData(), &change); err != nil {
				panic(err)
			}
			note = change.GetContext()
			_, is := n.seat(nodeOf(change.GetNodeId()))
			wrong := is != election.Removed
			if len(note) == 9 && note[0] == promotes {
				wrong = is != election.Learner
			}
			if change.GetType() != pb.ConfChangeRemoveNode && wrong {
				change.NodeId = proto.Uint64(0) // by which the library knows that it is not to be
			}
			n.conf = n.node.ApplyConfChange(&change)
		}
		if len(note) != 9 {
			continue
		}
		token := binary.BigEndian.Uint64(note[1:])
		a, own := n.admissions[token]
		delete(n.admissions, token)
		if raft, is := n.seat(a.who); own && is == a.as {
			a.done(raft)
		}
	}
}
