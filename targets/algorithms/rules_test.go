package algorithms

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/targets"
)

// stage is an Env for one node out of three, n1, that writes down what the node does.
type stage struct {
	now  time.Duration
	disk map[string][]byte
	did  []string
	mute bool
}

func newStage() *stage { return &stage{disk: map[string][]byte{}} }

func (s *stage) note(format string, args ...any) {
	if !s.mute {
		s.did = append(s.did, fmt.Sprintf(format, args...))
	}
}

// acts returns what the node did since the last call.
func (s *stage) acts() []string {
	did := s.did
	s.did = nil
	return did
}

func (s *stage) ID() election.ID                        { return 1 }
func (s *stage) Size() int                              { return 3 }
func (s *stage) Now() time.Duration                     { return s.now }
func (s *stage) Wall() time.Time                        { return time.Unix(0, int64(s.now)) }
func (s *stage) Rand() *rand.Rand                       { return source }
func (s *stage) SetTimer(election.Timer, time.Duration) {}
func (s *stage) StopTimer(election.Timer)               {}
func (s *stage) Load(key string) []byte                 { return s.disk[key] }
func (s *stage) Sync()                                  { s.note("sync") }
func (s *stage) Granted(term uint64, candidate election.ID) {
	s.note("vote for %v in %d", candidate, term)
}

func (s *stage) Applied(uint64, uint64, election.ID) {}

func (s *stage) Store(key string, value []byte) {
	s.disk[key] = value
	s.note("store")
}

func (s *stage) Send(to election.ID, m election.Message) {
	if !s.mute {
		s.note("%s to %v in %d: %v", m.Kind, to, m.Term, m.OK)
	}
}

var source = rand.New(rand.NewPCG(1, 2))

var raftPaper = raftConfig{
	timeoutMin: 150 * time.Millisecond,
	timeoutMax: 300 * time.Millisecond,
	heartbeat:  50 * time.Millisecond,
}

func raftExtended() raftConfig {
	c := raftPaper
	c.preVote, c.checkQuorum = true, true
	return c
}

// Figure 2: "updated on stable storage before responding".
func TestRaftVoteIsOnDiskBeforeTheAnswer(t *testing.T) {
	s := newStage()
	r := newRaft(raftPaper, s)
	r.Start()
	r.Receive(2, election.Message{Kind: "RequestVote", Term: 4})
	require.Equal(t, []string{
		"store", "sync", "store", "sync", "vote for n2 in 4", "RequestVoteResponse to n2 in 4: true",
	}, s.acts())

	again := newRaft(raftPaper, s)
	again.Start()
	require.Equal(t, []string{"sync"}, s.acts(), "the life before may have ended before it could")
	again.Receive(3, election.Message{Kind: "RequestVote", Term: 4})
	require.Equal(t, []string{"RequestVoteResponse to n3 in 4: false"}, s.acts(), "another candidate, after a restart")
	again.Receive(2, election.Message{Kind: "RequestVote", Term: 4})
	require.Equal(t, []string{"RequestVoteResponse to n2 in 4: true"}, s.acts(), "a candidate whose answer was lost")
}

func TestRaftDuplicatedAnswerIsOneVote(t *testing.T) {
	s := newStage()
	r := newRaft(raftPaper, &five{s})
	r.Start()
	r.Expire(electionTimer)
	r.Receive(2, election.Message{Kind: "RequestVoteResponse", Term: 1, OK: true})
	r.Receive(2, election.Message{Kind: "RequestVoteResponse", Term: 1, OK: true})
	require.Equal(t, election.Candidate, r.Status().Role)
	r.Receive(3, election.Message{Kind: "RequestVoteResponse", Term: 1, OK: true})
	require.Equal(t, election.Status{Role: election.Leader, Term: 1, Leader: 1}, r.Status())
}

// five is a stage for one node out of five.
type five struct{ *stage }

func (five) Size() int { return 5 }

// Section 5.1: a stale leader is not followed, and learns the newer term from the answer.
func TestRaftStaleLeader(t *testing.T) {
	s := newStage()
	r := newRaft(raftPaper, s)
	r.Start()
	r.Receive(2, election.Message{Kind: "AppendEntries", Term: 7})
	s.acts()
	r.Receive(3, election.Message{Kind: "AppendEntries", Term: 6})
	require.Equal(t, []string{"AppendEntriesResponse to n3 in 7: false"}, s.acts())
	require.Equal(t, election.ID(2), r.Status().Leader)

	r.Expire(electionTimer)
	r.Receive(2, election.Message{Kind: "RequestVoteResponse", Term: 8, OK: true})
	require.Equal(t, election.Leader, r.Status().Role)
	r.Receive(3, election.Message{Kind: "AppendEntriesResponse", Term: 9})
	require.Equal(t, election.Status{Role: election.Follower, Term: 9}, r.Status())
}

// Thesis, 9.6 and 4.2.3: whoever has heard a leader within the shortest timeout supports nobody else.
func TestRaftWhoHearsALeader(t *testing.T) {
	s := newStage()
	r := newRaft(raftExtended(), s)
	r.Start()
	r.Receive(2, election.Message{Kind: "AppendEntries", Term: 1})
	s.acts()
	s.now += 149 * time.Millisecond
	r.Receive(3, election.Message{Kind: "PreVote", Term: 2})
	r.Receive(3, election.Message{Kind: "RequestVote", Term: 2})
	require.Equal(t, []string{"PreVoteResponse to n3 in 1: false"}, s.acts())
	s.now += time.Millisecond
	r.Receive(3, election.Message{Kind: "PreVote", Term: 2})
	require.Equal(t, []string{"PreVoteResponse to n3 in 1: true"}, s.acts(), "a pre-vote leaves no trace")
	require.Equal(t, uint64(1), r.Status().Term)
	r.Receive(3, election.Message{Kind: "RequestVote", Term: 2})
	require.Contains(t, s.acts(), "RequestVoteResponse to n3 in 2: true")
}

// Thesis, 6.2.
func TestRaftLeaderWithoutAnswersStepsDown(t *testing.T) {
	s := newStage()
	r := newRaft(raftExtended(), s)
	r.Start()
	r.Expire(electionTimer)
	r.Receive(3, election.Message{Kind: "PreVoteResponse", Value: 1, OK: true})
	r.Receive(3, election.Message{Kind: "RequestVoteResponse", Term: 1, OK: true})
	for range 10 {
		s.now += 100 * time.Millisecond
		r.Receive(2, election.Message{Kind: "AppendEntriesResponse", Term: 1, OK: true})
		r.Expire(heartbeatTimer)
		require.Equal(t, election.Leader, r.Status().Role)
	}
	s.now += 301 * time.Millisecond
	r.Expire(heartbeatTimer)
	require.Equal(t, election.Status{Role: election.Follower, Term: 1}, r.Status())
}

func TestBlazingmqAnswersProposals(t *testing.T) {
	s := newStage()
	b := newBlazingmq(blazingmqConfig{}, s)
	b.Start()
	b.Receive(3, election.Message{Kind: "ElectionProposal", Term: 5})
	require.Equal(t, []string{
		"store", "sync", "vote for n3 in 5", "ElectionProposalResponse to n3 in 5: true",
	}, s.acts())
	require.Equal(t, election.None, b.Status().Leader, "a tentative leader was not heard yet")

	b = newBlazingmq(blazingmqConfig{}, s)
	b.Start()
	require.Equal(t, []string{"sync"}, s.acts(), "who was before may have ended before it could")
	b.Receive(2, election.Message{Kind: "ElectionProposal", Term: 5})
	b.Receive(2, election.Message{Kind: "ElectionProposal", Term: 4})
	require.Equal(t, []string{
		"ElectionProposalResponse to n2 in 5: false", "ElectionProposalResponse to n2 in 5: false",
	}, s.acts())
	b.Receive(2, election.Message{Kind: "LeaderHeartbeat", Term: 5})
	b.Receive(3, election.Message{Kind: "LeaderHeartbeat", Term: 4})
	require.Equal(t, []string{"HeartbeatResponse to n2 in 5: false", "HeartbeatResponse to n3 in 5: false"}, s.acts())
	require.Equal(t, election.ID(2), b.Status().Leader)
	b.Receive(3, election.Message{Kind: "ElectionProposal", Term: 6})
	require.Contains(t, s.acts(), "ElectionProposalResponse to n3 in 6: true", "a higher term is honoured, leader or not")
}

func TestBlazingmqAnswersScouting(t *testing.T) {
	s := newStage()
	b := newBlazingmq(blazingmqConfig{scouting: true}, s)
	b.Start()
	b.Receive(3, election.Message{Kind: "ElectionScouting", Term: 9})
	require.Equal(t, []string{"ElectionScoutingResponse to n3 in 9: true"}, s.acts(), "a higher id, no leader perceived")
	b.Receive(2, election.Message{Kind: "LeaderHeartbeat", Term: 1})
	s.acts()
	b.Receive(3, election.Message{Kind: "ElectionScouting", Term: 9})
	require.Equal(t, []string{"ElectionScoutingResponse to n3 in 9: false"}, s.acts(), "a leader is perceived")
	require.Equal(t, uint64(1), b.Status().Term)

	third := newBlazingmq(blazingmqConfig{scouting: true}, &last{s})
	third.Start()
	s.acts()
	third.Receive(2, election.Message{Kind: "ElectionScouting", Term: 9})
	require.Equal(t, []string{"ElectionScoutingResponse to n2 in 9: false"}, s.acts(), "a lower id")
}

// last is a stage for n3.
type last struct{ *stage }

func (last) ID() election.ID { return 3 }

// Heartbeats are nearly all that happens in a run, and the simulator is to do hundreds of runs a second.
func TestHeartbeatsAllocateNothing(t *testing.T) {
	s := newStage()
	s.mute = true
	follower, leader := newRaft(raftExtended(), s), newRaft(raftExtended(), s)
	leader.lead()
	elector := blazingmqConfig{random: time.Second}
	peer, head := newBlazingmq(elector, s), newBlazingmq(elector, s)
	head.lead()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		follower.Receive(2, election.Message{Kind: "AppendEntries"})
		leader.Receive(2, election.Message{Kind: "AppendEntriesResponse", OK: true})
		leader.Expire(heartbeatTimer)
		peer.Receive(2, election.Message{Kind: "LeaderHeartbeat"})
		head.Receive(2, election.Message{Kind: "HeartbeatResponse"})
		head.Expire(phaseTimer)
	}))
}

// outbox is a stage that keeps what is sent.
type outbox struct {
	*stage
	sent []election.Message
}

func (o *outbox) Send(_ election.ID, m election.Message) { o.sent = append(o.sent, m) }

// Members that take each other for their leader, as those of two groups that joined each other at once, refer who invites them to each
// other once: what came twice would else be more and more.
func TestInvitationIsReferredToEachOnce(t *testing.T) {
	target, err := targets.Find("invitation")
	require.NoError(t, err)
	options, err := target.Parse(nil)
	require.NoError(t, err)
	inviter, member := &outbox{stage: newStage()}, &outbox{stage: newStage()}
	n, second := target.Node(options, inviter), target.Node(options, member)
	n.Start()
	n.Receive(2, election.Message{Kind: "REFER", Node: 3, List: []election.ID{2}})
	require.Equal(t, []election.Message{{Kind: "INVITE", Value: 1, List: []election.ID{2}}}, inviter.sent)

	second.Start()
	second.Receive(3, election.Message{Kind: "INVITE", Value: 2}) // and joins
	member.sent = nil
	second.Receive(2, inviter.sent[0])
	require.Equal(t, []election.Message{{Kind: "REFER", Node: 3, List: []election.ID{2, 1}}}, member.sent)

	inviter.sent = nil
	n.Receive(3, election.Message{Kind: "REFER", Node: 2, List: []election.ID{2, 3}})
	require.Empty(t, inviter.sent)
}
