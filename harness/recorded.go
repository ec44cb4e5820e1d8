package harness

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"recount/checkers"
	"recount/checkers/linear"
	"recount/harness/record"
	"recount/history"
)

// How a run is written down and judged: its folder, its history, and what is made of it in the end.

// open makes the run's folder and puts into it what is known before the run. Where that cannot be written there is no folder.
func (r *run) open() (*record.Run, error) {
	rep := r.outline()
	var err error
	if rep.Dir, err = makeFolder(r.Results, r.Target); err != nil {
		return nil, err
	}
	if err := errors.Join(keepDefinition(rep.Dir, rep), record.Save(rep)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(rep.Dir))
	}
	return rep, nil
}

// outline is what is known of a run before it is made.
func (r *run) outline() *record.Run {
	rep := &record.Run{
		Title: r.Scenario, Target: r.Target, Cluster: r.On, Options: r.options.All(), Seed: r.Seed, Plan: r.Plan,
		Nodes: r.names, Started: time.Now(), Repeat: r.Repeat, Version: Version, DescribedBy: absolute(r.Target), Description: string(r.target.Definition),
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
	defer func() { err = cmp.Or(err, file.Close()) }() // what is not written cannot be closed either, for the same reason
	var w io.Writer = file
	if r.Compress {
		var z *gzip.Writer
		if z, err = gzip.NewWriterLevel(file, gzip.BestSpeed); err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, z.Close()) }()
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
	r.hopedFor(rep)
	rep.Events, rep.Notes, rep.Unkept = r.events(), slices.Concat(r.notes, r.told), r.unkept
	rep.Unread, rep.Built, rep.LastWords = r.unread.words(), r.built, r.lastWords
	if c, reads := r.base.(tellsUnread); reads {
		rep.Unread = strings.TrimSpace(rep.Unread + " " + c.Unread())
	}
	if err := r.covered(rep); err != nil {
		return err
	}
	if r.unkept != nil {
		ctx = linear.Undrawn(ctx)
	} else if rep.History, err = r.recorder.History(); err != nil {
		return err
	}
	Conclude(context.WithoutCancel(ctx), rep, r.judging, patienceWithCheckers) // what was cut short is judged, too
	return nil
}

// events is what Run.Events is to be: a hash of all that the nodes did, on a cluster where they do the same each time.
func (r *run) events() string {
	c, repeats := r.base.(tellsHash)
	if !repeats {
		return ""
	}
	return fmt.Sprintf("%016x", c.Hash())
}

// patienceWithLogs is how long what nodes wrote may take to be fetched from an engine that may stand still.
const patienceWithLogs = time.Minute

// keepLogs keeps what nodes wrote, and notes what those wrote last that ended by themselves.
func (r *run) keepLogs(ctx context.Context, logs string) {
	ctx, cancel := context.WithTimeout(ctx, patienceWithLogs)
	defer cancel()
	if err := r.cluster.SaveLogs(ctx, logs); err != nil {
		r.note("logs are missing: %v", err)
	}
	r.lastWords = r.endedWith(ctx, logs)
	for _, words := range r.lastWords {
		r.note("%s", words)
	}
}
