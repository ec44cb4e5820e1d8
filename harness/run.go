// Package harness makes runs: it brings a cluster up, lets clients and the nemesis loose on it, heals it, and has what
// was recorded judged.
package harness

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recount/checkers"
	"recount/checkers/linear"
	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/internal/seed"
	"recount/nemesis"
	"recount/report"
	"recount/sim"
	_ "recount/targets/specfile" // makes targets of files
	"recount/virtual"
	"recount/workloads"
)

// Version is Recount's own, stored with every run.
const Version = "0.1.0"

// Config is what a run needs besides its plan.
type Config struct {
	Results  string            // folder under which the run gets its own
	Repeat   string            // the command that repeats the run
	Progress func(line string) // told what goes on; nil for silence
	Compress bool              // the history becomes history.jsonl.gz, about a tenth as long
	building func(line string) // told what is built
	// Executable is the program that containers are to run beside what the target brings: one that offers the commands of
	// package inside, and knows the target. "" is this process's own.
	Executable string
}

// How leaders write: soon after the last write, with most of the time between looking and writing. A leader that is
// paused is then most likely paused there.
const (
	writeEvery = 20 * time.Millisecond
	writeGap   = 100 * time.Millisecond
)

// run is one run under way.
type run struct {
	*subject
	Config
	cluster   Cluster
	recorder  *history.Recorder
	judging   *checkers.Judging
	unkept    *history.Frame      // what is to be left of the history; nil if all of it is kept in memory
	watches   []func(*history.Op) // told of all that is recorded
	views     *nemesis.Views
	nemesis   *nemesis.Nemesis
	observers *workloads.Observers
	rest      func() // stops what clients do besides
	fence     *workloads.Fence
	news      news
	built     []string // what nodes run, of a target that a file describes
	lastWords []string // what nodes wrote before they ended by themselves
	told      []string // notes on what happened; those on the plan are the subject's
	unread    *unread  // of real systems
	// unreadLines says which lines of nodes' logs could not be read; nil where they have none
	unreadLines func() string
	unheard     func(ctx context.Context) error // whether nodes send what the network does not carry; nil where they cannot
	ended       map[string]bool                 // nodes that have ended by themselves
	carried     func(sim.Carried)               // told what becomes of messages in simulation; nil for nobody
	messages    func(m *record.Message)         // keeps what nodes send each other elsewhere; nil for nobody
	// lastMessages keeps those of which only the end of a run tells what became of them; nil for none.
	lastMessages func()
	spoil        func(*sim.Cluster) // is told of the cluster before the run, in simulation; nil for nobody
	relate       bool               // sum up what happens before what, in simulation
	related      *sim.Relations     // that, once the run has begun
	hash         func() uint64      // of all that the nodes did, where they do the same each time; else nil
	trace        *virtual.Trace     // takes down what they did, in virtual time; nil for nothing
	stop         *virtual.Stop      // is where the run ends before its end, in virtual time; nil for nowhere
}

// Run makes a run by a plan and returns it judged, with its reports written. When ctx ends, the run is cut short: it is
// healed and cleaned up, and what was recorded up to there is judged. An error means that the harness or the engine
// failed, and says nothing about the target; the history is kept all the same.
func Run(ctx context.Context, p record.Plan, cfg Config) (*record.Run, error) {
	s, err := resolve(p)
	if err != nil {
		return nil, Usage(err)
	}
	cfg = cfg.heard(ctx)
	for _, n := range s.notes {
		cfg.Progress(n)
	}
	r := &run{subject: s, Config: cfg, relate: true}
	rep, err := r.open()
	if err != nil {
		return nil, err
	}
	started := time.Now()
	err = r.record(ctx, rep.Dir)
	if err != nil && (r.recorder == nil || r.recorder.Len() == 0) {
		return nil, errors.Join(err, os.RemoveAll(rep.Dir))
	}
	defer record.Latest(r.Results, rep.Dir) // not before: one that is killed in its middle is half written
	if err != nil {
		err = errors.Join(err, r.fail(rep, err))
		return nil, fmt.Errorf("%w (what was recorded lies in %s)", err, rep.Dir)
	}
	r.sumUp(rep)
	if err := r.judged(ctx, rep); err != nil {
		return nil, fmt.Errorf("%w (what was recorded lies in %s)", err, rep.Dir)
	}
	rep.Took = time.Since(started)
	if err := report.Write(rep); err != nil {
		return nil, err
	}
	return rep, nil
}

// open makes the run's folder and puts into it what is known before the run.
func (r *run) open() (*record.Run, error) {
	rep := r.outline()
	var err error
	if rep.Dir, err = makeFolder(r.Results, r.Target); err != nil {
		return nil, err
	}
	return rep, record.Save(rep)
}

// events is what Run.Events is to be.
func (r *run) events() string {
	if r.hash == nil {
		return ""
	}
	return fmt.Sprintf("%016x", r.hash())
}

// outline is what is known of a run before it is made.
func (r *run) outline() *record.Run {
	rep := &record.Run{
		Title: r.Scenario, Target: r.Target, Cluster: r.On, Options: r.options.All(), Seed: r.Seed, Plan: r.Plan,
		Nodes: r.names, Started: time.Now(), Repeat: r.Repeat, Version: Version, DescribedBy: absolute(r.Target),
		Standing: record.Standing{Status: record.StatusUnknown}, // until it is judged
	}
	if rep.Title == "" {
		rep.Title = r.Target
	}
	return rep
}

// record makes the run and writes its history to disk. Whatever was recorded is there, also beside an error.
func (r *run) record(ctx context.Context, dir string) (err error) {
	name := record.HistoryFile
	if r.Compress {
		name += record.Compressed
	}
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var w io.Writer = file
	if r.Compress {
		var z *gzip.Writer
		if z, err = gzip.NewWriterLevel(file, gzip.BestSpeed); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, z.Close()) }()
		w = z
	}
	hold := 0 // in real time each op is written as it happens
	if record.Repeats(r.On) {
		hold = 64 << 10
	}
	r.listen(w, hold)
	return r.carryOut(ctx, dir)
}

// listen opens the recorder: ops are judged, and counted if they are not kept, before anybody acts on them.
func (r *run) listen(w io.Writer, hold int) {
	r.recorder, r.judging = history.NewRecorder(w, hold), checkers.Begin()
	r.recorder.Watch(r.judging.Add)
	if r.unkept == nil {
		r.recorder.Reserve(r.expected())
	} else {
		r.recorder.Forget()
		r.recorder.Watch(r.outlined)
	}
	for _, f := range r.watches {
		r.recorder.Watch(f)
	}
}

// outlined keeps the frame of a history that is not kept. What clocks told is judged, and of no use to who makes many runs.
func (r *run) outlined(op *history.Op) {
	if op.F == history.ReadClock {
		r.unkept.Pass(op)
	} else {
		r.unkept.Add(op)
	}
}

// judged returns the run with what was recorded, and the verdicts on it.
func (r *run) judged(ctx context.Context, rep *record.Run) (err error) {
	rep.Events, rep.Notes, rep.Unkept = r.events(), slices.Concat(r.notes, r.told), r.unkept
	rep.Unread, rep.Built, rep.LastWords = r.unread.words(), r.built, r.lastWords
	if r.unreadLines != nil {
		rep.Unread = strings.TrimSpace(rep.Unread + " " + r.unreadLines())
	}
	if r.unkept == nil {
		if rep.History, err = r.recorder.History(); err != nil {
			return err
		}
	}
	if r.unkept != nil {
		ctx = linear.Undrawn(ctx)
	}
	Conclude(ctx, rep, r.judging, patienceWithCheckers)
	return nil
}

// carryOut does what the plan says, and has it recorded.
func (r *run) carryOut(ctx context.Context, dir string) (err error) {
	kept, err := r.keepMessages(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept()) }()
	if r.cluster, err = r.openCluster(ctx, dir); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err = r.closed(err, r.cluster.Close(ctx))
	}()
	r.begin()
	failed := r.proceed(ctx)
	var endless *sim.Endless
	if errors.As(failed, &endless) {
		r.append(history.Op{Process: history.Harness, Type: history.Info, F: history.Endless, Error: endless.Error()})
		r.note("cut short: %v", endless)
		return r.recorder.Flush()
	}
	logs := filepath.Join(dir, record.NodeLogs)
	still := dir != "" && r.stood(failed) // who keeps nothing is to hear of it by the error
	if still {
		failed = nil
	}
	if failed != nil && ctx.Err() == nil {
		if dir != "" { // the logs may tell why
			if err := r.cluster.SaveLogs(ctx, logs); err != nil {
				failed = errors.Join(failed, err)
			} else if words := r.endedWith(ctx, logs); words != nil {
				failed = hint.Add(failed, "%s", words[0])
			}
		}
		return errors.Join(failed, r.recorder.Flush())
	}
	switch {
	case still: // the history ends there
	case failed == nil:
		r.append(history.Op{Process: history.Harness, Type: history.OK, F: history.End})
	default:
		r.note("interrupted after %v: the history ends there", r.cluster.Now().Round(time.Millisecond))
	}
	if err := r.recorder.Flush(); err != nil {
		return err
	}
	if dir == "" { // nobody is to keep anything
		return nil
	}
	if err := r.cluster.SaveLogs(context.WithoutCancel(ctx), logs); err != nil {
		r.note("logs are missing: %v", err)
	}
	r.lastWords = r.endedWith(context.WithoutCancel(ctx), logs)
	for _, words := range r.lastWords {
		r.note("%s", words)
	}
	return nil
}

// stood tells whether a run ended since a node let no time pass, and notes it: nothing more is known of the run, and nothing else is wrong
// with it.
func (r *run) stood(failed error) bool {
	var still *virtual.Standstill
	if !errors.As(failed, &still) {
		return false
	}
	r.note("cut short: %v; the stacks of its goroutines are in nodes/%s.log", still, still.Node)
	return true
}

// closed is what becomes of a run whose cluster was removed, or not: what an engine cannot remove in the end says nothing about a run that
// was made, and its verdicts stand.
func (r *run) closed(failed, closing error) error {
	if closing == nil || failed != nil || r.On != record.OnDocker {
		return errors.Join(failed, closing)
	}
	r.note("something is left in the engine (recount clean removes it): %s", hint.Line(closing))
	return nil
}

// begin records what the run is, and attaches everybody who watches or acts.
func (r *run) begin() {
	if c, traps := r.cluster.(interface {
		OnSprung(f func(id int, what string, did history.Changes))
	}); traps {
		c.OnSprung(func(id int, what string, did history.Changes) { r.nemesis.Sprung(id, what, did) })
	}
	if c, sees := r.cluster.(interface {
		Seen(node string, now history.View)
	}); sees { // a trap may wait for what nodes come to be
		r.recorder.Watch(func(op *history.Op) {
			if op.Type == history.OK && op.Node != "" && op.View != (history.View{}) {
				c.Seen(op.Node, op.View)
			}
		})
	}
	base := r.cluster
	if c, can := base.(interface {
		Unheard(ctx context.Context) error
	}); can {
		r.unheard = c.Unheard
	}
	if c, can := base.(interface{ UnreadLines() string }); can {
		r.unreadLines = c.UnreadLines
	}
	if r.target.System != nil { // algorithms answer in no words of their own
		r.unread = countUnread(r.cluster, r.bounds, r.target.Definition != nil)
		r.cluster = r.unread
	}
	clients := withClients(r.cluster, r.names)
	r.cluster = clients
	if r.asks() {
		r.cluster = r.withAsked(clients, base)
	}
	writes := workloads.WritesOf(workloads.Named(r.Workloads))
	setup := &history.Setup{
		Version: Version, Target: r.Target, Options: r.options.All(), Cluster: r.On, Seed: r.Seed, Nodes: r.names,
		Servers: r.servers, Peers: r.peers, Voting: r.voting, Store: r.store(), NoTerms: !r.target.Numbered(r.options), Standing: r.target.Standing, Tokens: r.target.Tokens,
		Recorded: writes == workloads.AcceptStale, Bounds: r.bounds,
	}
	r.append(history.Op{Process: history.Harness, Type: history.OK, F: history.Begin, Setup: setup})
	r.views = nemesis.NewViews(r.names, r.recorder)
	if r.peers {
		r.views.Stand(r.servers)
	} else {
		r.views.Serve(r.servers)
	}
	r.views.Vote(r.voting)
	r.views.NoLeaderNames, r.views.Tokens = r.target.NoLeaderNames, r.target.Tokens
	if !record.Repeats(r.On) { // what does is over in a moment, and the report tells it all
		r.recorder.Watch(r.tell)
	}
	n := history.Process(len(r.names))
	if writes != workloads.NoWrites {
		r.fence = workloads.NewFence(r.cluster.Now, r.recorder, r.names, !setup.Recorded, n, r.stride())
		r.fence.Reach = clients.reach
		r.cluster.Writers(r.fence, writeEvery, writeGap)
	}
	r.cluster.OnStall(func(d time.Duration) {
		r.append(history.Op{Process: history.Harness, Type: history.Info, F: history.Stall, Access: history.Access{Value: int64(d)}})
	})
	r.ended, r.news = map[string]bool{}, news{leads: leads{}}
	r.cluster.OnExit(func(node string, code int) {
		r.ended[node] = true
		killed := code == killedStatus && slices.ContainsFunc(r.nemesis.Holds().Memories(), func(m history.Memory) bool { return m.Node == node })
		how := fmt.Sprintf("exit status %d", code)
		if killed {
			how += ", for want of memory"
		}
		r.append(history.Op{Process: history.Harness, Type: history.Info, F: history.Exit, Node: node, Error: how})
		if killed {
			r.note("%s was ended by the kernel, since it wanted more memory than it was left", node)
			return
		}
		if r.On == record.OnSim { // whose nodes end for no other reason, and write no log
			r.note("%s ended by itself: its disk had failed it", node)
			return
		}
		r.note("%s ended by itself with exit status %d; its log is in nodes/%s.log", node, code, node)
	})
	r.observers = workloads.Observe(r.cluster, r.recorder, r.names, r.bounds.Poll, 0, r.stride())
	r.rest = r.work()
	r.nemesis = nemesis.New(r.cluster, r.recorder, r.views, seed.New(r.Seed, "nemesis"))
	r.nemesis.Written = r.Written()
	r.watchClocks()
}

// killedStatus is that of a process that SIGKILL has ended.
const killedStatus = 128 + 9

// proceed is the run itself. Whatever happens on the way, it ends with a healed cluster, if there is one left.
func (r *run) proceed(ctx context.Context) error {
	defer func() {
		r.observers.Stop()
		r.rest()
	}()
	err := r.cluster.Start(ctx)
	if err == nil {
		err = r.settle(ctx)
	}
	if err == nil && r.gone() {
		r.note("no node was left to break after %v", r.cluster.Now().Round(time.Millisecond))
		return nil
	}
	if err == nil {
		err = r.hear(ctx)
	}
	if err == nil {
		r.append(history.Op{Process: history.Harness, Type: history.OK, F: history.Settle})
		r.nemesis.Start(r.Schedule)
		r.nemesis.Repeat(r.Recorded)
		err = r.pass(ctx, r.Time)
	}
	if err == nil {
		err = r.hear(ctx)
	}
	if err == nil {
		err = r.compare(ctx)
	}
	if failed := r.heal(context.WithoutCancel(ctx)); !errors.Is(err, failed) { // else what was lost stays lost
		err = errors.Join(err, failed)
	}
	if err == nil {
		err = r.recover(ctx)
	}
	return err
}

// hear fails where nodes send what the network does not carry: nobody is to be judged by that.
func (r *run) hear(ctx context.Context) error {
	if r.unheard == nil {
		return nil
	}
	return r.unheard(ctx)
}

// step is how long the loop runs between two looks at the views.
const step = 20 * time.Millisecond

// gone reports whether every node ended by itself.
func (r *run) gone() bool { return len(r.ended) == len(r.names) }

// settle waits for the first leader that a majority knows. One that does not come is for the checkers to judge, so the
// run goes on without, as long as there is anybody who could lead.
func (r *run) settle(ctx context.Context) error {
	limit := r.cluster.Now() + 2*r.bounds.Elect + 2*r.bounds.Silence
	if r.On != record.OnSim {
		limit += 20 * time.Second // for the nodes to start
	}
	held := time.Duration(0)
	for r.cluster.Now() < limit && held < r.bounds.Silence && !r.gone() {
		if err := r.cluster.Run(ctx, r.cluster.Now()+step); err != nil {
			return err
		}
		if held += step; !r.views.Agreed() {
			held = 0
		}
	}
	if held == 0 && !r.gone() {
		r.note("no leader known to a majority within %v of the start; last seen: %s", r.cluster.Now().Round(time.Second), r.views)
	}
	return nil
}

// pass lets time go by, and says now and then how much of it has: by the run's clock, as all that is told of a run, and by that of the wall
// where this is another.
func (r *run) pass(ctx context.Context, d time.Duration) error {
	const slice, every = time.Second, 5 * time.Second
	begin, began := r.cluster.Now(), time.Now()
	told := began
	for end := begin + d; r.cluster.Now() < end; {
		if err := r.cluster.Run(ctx, min(end, r.cluster.Now()+slice)); err != nil {
			return err
		}
		if time.Since(told) >= every {
			told = time.Now()
			r.Progress(passed(r.cluster.Now(), begin, d, time.Since(began), record.Repeats(r.On)))
		}
	}
	return nil
}

// passed says how much of the time for faults has passed now.
func passed(now, begin, of, wall time.Duration, virtual bool) string {
	line := fmt.Sprintf("%7.2fs %v of %v for faults have passed", now.Seconds(), (now - begin).Round(time.Second), of)
	if virtual {
		line += fmt.Sprintf(", in %v by the wall clock", wall.Round(time.Second))
	}
	return line
}

// recover gives the healed cluster the time that its target is allowed to find a leader, or less if all agree before,
// and takes the final reads.
func (r *run) recover(ctx context.Context) error {
	limit := r.cluster.Now() + r.bounds.Elect + 2*r.bounds.Silence
	for held := time.Duration(0); r.cluster.Now() < limit && held < 2*r.bounds.Silence; {
		if err := r.cluster.Run(ctx, r.cluster.Now()+step); err != nil {
			return err
		}
		if held += step; !r.views.AllAgree() {
			held = 0
		}
	}
	if r.fence != nil && !r.guards() {
		r.fence.Read(history.Process(2 * len(r.names)))
	}
	return nil
}

// guards reports whether leaders guard a resource of the target's own.
func (r *run) guards() bool {
	if r.target.System == nil {
		return false
	}
	y, err := r.target.System(r.options)
	if err != nil {
		return false // the run was refused before
	}
	writer, told := resourceOf(y)
	return writer != nil || told != nil
}

// tell reports the nemesis's actions and changes of leader as they happen.
func (r *run) tell(op *history.Op) {
	for _, line := range r.news.lines(op) {
		r.Progress(line)
	}
}

// openCluster opens the cluster that the plan asks for.
func (r *run) openCluster(ctx context.Context, dir string) (Cluster, error) {
	switch r.On {
	case record.OnSim:
		c, err := openSimulated(r.subject)
		if err == nil && r.carried != nil {
			c.OnMessage(r.carried)
		}
		if err == nil && r.spoil != nil {
			r.spoil(c.Cluster)
		}
		if err == nil && r.relate {
			r.related = c.Relate()
		}
		return c, err
	case record.OnVirtual:
		c, err := openVirtual(ctx, r)
		if err != nil {
			return nil, err
		}
		r.hash, r.built = c.Hash, c.built
		if r.messages != nil {
			c.OnPacket(newPackets(c.system, r.messages).sent)
		}
		return c, nil
	}
	c, err := openContainers(ctx, r.subject, record.RunID(dir), r.Config)
	if err != nil {
		return nil, err
	}
	r.built = c.built
	if r.messages != nil {
		r.countTraffic(ctx, c)
	}
	return c, nil
}

func (r *run) append(op history.Op) {
	op.Time = r.cluster.Now()
	r.recorder.Append(op)
}

func (r *run) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	r.told = append(r.told, line)
	r.Progress(line)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
