package etcdraft

import (
	"encoding/binary"
	"slices"

	raftlib "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"recount/election"
)

// register is what the entries of clients come to, and which of them wait for an answer. An entry is a write: the value, who
// proposed it, and that node's count.
type register struct {
	value   uint64
	applied uint64
	count   uint64
	writes  map[uint64]pendingWrite // by count
	reads   []pendingRead           // in the order they were asked in
}

type pendingWrite struct {
	term uint64
	done func()
}

type pendingRead struct {
	count uint64
	known bool // that a majority, or the lease, has confirmed this leader, and up to where to apply
	index uint64
	done  func(uint64)
}

// Put proposes a write: the answer comes once it is committed and applied. The library drops what is proposed while the
// leadership is handed over.
func (n *etcdRaft) Put(value uint64, done func()) (proposed bool) {
	n.guard(func() error {
		if n.view.RaftState != raftlib.StateLeader {
			return nil
		}
		n.count++
		if n.node.Propose(encode(value, n.env.ID(), n.count)) != nil {
			return nil
		}
		if n.writes == nil {
			n.writes = map[uint64]pendingWrite{}
		}
		n.writes[n.count], proposed = pendingWrite{n.view.GetTerm(), done}, true
		return nil
	})
	return proposed
}

// Get asks the library for the index that a read has to wait for.
func (n *etcdRaft) Get(done func(uint64)) (asked bool) {
	n.guard(func() error {
		if n.view.RaftState != raftlib.StateLeader {
			return nil
		}
		n.count++
		n.reads, asked = append(n.reads, pendingRead{count: n.count, done: done}), true
		n.node.ReadIndex(binary.BigEndian.AppendUint64(nil, n.count))
		return nil
	})
	return asked
}

// apply applies what is committed, in order, and answers whom it can.
func (n *etcdRaft) apply(r raftlib.Ready) {
	for _, e := range r.CommittedEntries {
		n.applied = e.GetIndex()
		value, from, count, ok := decode(e.GetData())
		if !ok || e.GetType() != pb.EntryNormal {
			continue // a leader's blank entry, or one about members
		}
		n.value = value
		w, waits := n.writes[count]
		if waits && from == n.env.ID() && w.term == e.GetTerm() { // and not of an earlier life, which counted from 1 as well
			delete(n.writes, count)
			w.done()
		}
	}
	for _, s := range r.ReadStates {
		count := binary.BigEndian.Uint64(s.RequestCtx)
		if i := slices.IndexFunc(n.reads, func(p pendingRead) bool { return p.count == count }); i >= 0 {
			n.reads[i].known, n.reads[i].index = true, s.Index
		}
	}
	waiting := n.reads[:0]
	for _, p := range n.reads {
		if p.known && p.index <= n.applied {
			p.done(n.value)
		} else {
			waiting = append(waiting, p)
		}
	}
	n.reads = waiting
}

// forgetReads forgets the reads that the library has forgotten with a leadership.
func (n *etcdRaft) forgetReads() {
	n.reads = slices.DeleteFunc(n.reads, func(p pendingRead) bool { return !p.known })
}

func encode(value uint64, from election.ID, count uint64) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 24), value)
	b = binary.BigEndian.AppendUint64(b, uint64(from))
	return binary.BigEndian.AppendUint64(b, count)
}

func decode(b []byte) (value uint64, from election.ID, count uint64, ok bool) {
	if len(b) != 24 {
		return 0, 0, 0, false
	}
	return binary.BigEndian.Uint64(b), election.ID(binary.BigEndian.Uint64(b[8:])), binary.BigEndian.Uint64(b[16:]), true
}
