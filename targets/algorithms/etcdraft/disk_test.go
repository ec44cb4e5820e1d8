package etcdraft

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	raftlib "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"recount/election"
)

// shelf is a node's disk and nothing else of its surroundings.
type shelf struct {
	election.Env
	kept map[string][]byte
}

func (s *shelf) Size() int                      { return 3 }
func (s *shelf) Load(key string) []byte         { return s.kept[key] }
func (s *shelf) Store(key string, value []byte) { s.kept[key] = value }

// Entries come a few at a time, some in the place of others, in the lives of many processes; each finds what the one before it had.
func TestALogIsTakenUpAsItWasLeft(t *testing.T) {
	for seed := range uint64(200) {
		rng, env := rand.New(rand.NewPCG(seed, 0)), &shelf{kept: map[string][]byte{}}
		d, err := load(env)
		require.NoError(t, err)
		for term := uint64(1); term < 40; term++ {
			last, err := d.LastIndex()
			require.NoError(t, err)
			index := last + 1
			if rng.IntN(3) == 0 {
				index -= rng.Uint64N(min(last, 40) + 1)
			}
			var entries []*pb.Entry
			for k := range rng.Uint64N(20) {
				entries = append(entries, &pb.Entry{Index: proto.Uint64(index + k), Term: proto.Uint64(term), Data: make([]byte, rng.IntN(200))})
			}
			require.NoError(t, d.save(raftlib.Ready{Entries: entries}))
			next, err := load(env)
			require.NoError(t, err)
			require.Equal(t, all(t, d), all(t, next), seed)
			if rng.IntN(4) == 0 {
				d = next
			}
		}
	}
}

// all are the entries of a log, as they are written.
func all(t *testing.T, d *disk) (texts []string) {
	last, err := d.LastIndex()
	require.NoError(t, err)
	if last == 0 {
		return nil
	}
	entries, err := d.Entries(1, last+1, 1<<62)
	require.NoError(t, err)
	for _, e := range entries {
		b, err := proto.Marshal(e)
		require.NoError(t, err)
		texts = append(texts, string(b))
	}
	return texts
}
