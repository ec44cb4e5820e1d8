package etcdraft

import (
	"encoding/binary"
	"fmt"

	raftlib "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"recount/election"
)

// disk is the library's log, with the members that it starts with, and how it is kept: what the library calls the hard state under
// "state", and the entries in segments of a fixed number, each after the term of the entry before it. Entries are written before
// the state, as etcd writes them, and "length" between the two says how many there are: a process that ends in between leaves segments
// of two logs behind, which do not fit each other, and whose end nobody was told of.
type disk struct {
	*raftlib.MemoryStorage
	env     election.Env
	members pb.ConfState
}

// segment is how many entries are stored together.
const segment = 16

// InitialState is what the node starts from.
func (d *disk) InitialState() (*pb.HardState, *pb.ConfState, error) {
	hard, _, err := d.MemoryStorage.InitialState()
	return hard, &d.members, err
}

// load takes up what an earlier life left.
func load(env election.Env) (*disk, error) {
	d := &disk{MemoryStorage: raftlib.NewMemoryStorage(), env: env}
	for id := 1; id <= env.Size(); id++ {
		d.members.Voters = append(d.members.Voters, uint64(id))
	}
	if b := env.Load("state"); len(b) > 0 {
		var hard pb.HardState
		if err := proto.Unmarshal(b, &hard); err != nil {
			return nil, err
		}
		if err := d.SetHardState(&hard); err != nil {
			return nil, err
		}
	}
	length, _ := binary.Uvarint(env.Load("length"))
	for last := uint64(0); last < length && last%segment == 0; {
		term, entries, err := readSegment(env.Load(segmentKey(last / segment)))
		if err != nil {
			return nil, err
		}
		if before, err := d.Term(last); err != nil || term != before || len(entries) == 0 {
			break
		}
		entries = entries[:min(uint64(len(entries)), length-last)]
		if err := d.Append(entries); err != nil {
			return nil, err
		}
		last += uint64(len(entries))
	}
	return d, nil
}

// save takes in what is new and writes it.
func (d *disk) save(r raftlib.Ready) error {
	if len(r.Entries) > 0 {
		if err := d.Append(r.Entries); err != nil {
			return err
		}
		if err := d.writeFrom(r.Entries[0].GetIndex()); err != nil {
			return err
		}
	}
	if !raftlib.IsEmptyHardState(r.HardState) {
		if err := d.SetHardState(r.HardState); err != nil {
			return err
		}
		b, err := proto.Marshal(r.HardState)
		if err != nil {
			return err
		}
		d.env.Store("state", b)
	}
	if r.MustSync {
		d.env.Sync()
	}
	return nil
}

// writeFrom writes the segments that have an entry or one after it.
func (d *disk) writeFrom(index uint64) error {
	last, err := d.LastIndex()
	if err != nil {
		return err
	}
	for k := (index - 1) / segment; k*segment < last; k++ {
		entries, err := d.Entries(k*segment+1, min(last, (k+1)*segment)+1, 1<<62)
		if err != nil {
			return err
		}
		before, err := d.Term(k * segment)
		if err != nil {
			return err
		}
		b := binary.AppendUvarint(nil, before)
		for _, e := range entries {
			record, err := proto.Marshal(e)
			if err != nil {
				return err
			}
			b = append(binary.AppendUvarint(b, uint64(len(record))), record...)
		}
		d.env.Store(segmentKey(k), b)
	}
	d.env.Store("length", binary.AppendUvarint(nil, last))
	return nil
}

func segmentKey(k uint64) string { return fmt.Sprintf("log-%d", k) }

// readSegment returns the term of the entry before the segment, and its entries.
func readSegment(b []byte) (before uint64, entries []*pb.Entry, err error) {
	if len(b) == 0 {
		return 0, nil, nil
	}
	before, k := binary.Uvarint(b)
	for b = b[max(k, 0):]; len(b) > 0; {
		size, k := binary.Uvarint(b)
		if k <= 0 || uint64(len(b)-k) < size {
			return 0, nil, fmt.Errorf("etcd-raft: the log on disk is cut short")
		}
		e := &pb.Entry{}
		if err := proto.Unmarshal(b[k:k+int(size)], e); err != nil {
			return 0, nil, err
		}
		entries, b = append(entries, e), b[k+int(size):]
	}
	return before, entries, nil
}
