package member

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"time"

	"recount/election"
	"recount/workloads"
)

// SidecarConfig is a writer that lives beside the server of a real system: in a process of its own, which is killed and
// paused together with the server's.
type SidecarConfig struct {
	ID       election.ID
	Observer election.Observer // of the server beside which it lives; nil where the harness looks and writes for it
	Rand     func(purpose string) *rand.Rand
	Data     string // the folder that survives a restart
	Writer   WriterConfig
	Log      *log.Logger
}

// RunSidecar runs the writer until ctx ends, and closes the observer.
func RunSidecar(ctx context.Context, c SidecarConfig) error {
	if c.Observer != nil {
		defer c.Observer.Close()
	}
	own, err := openStorage(filepath.Join(c.Data, "recount"))
	if err != nil {
		return err
	}
	defer own.close()
	life, err := own.next("life")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	s := &sidecar{ctx: ctx, began: time.Now(), log: c.Log, rand: c.Rand(fmt.Sprintf("writer %v life %d", c.ID, life))}
	to := newResource(c.Writer, c.Log)
	if c.Observer == nil {
		through := &relay{ctx: ctx, to: to}
		defer through.close()
		s.look, s.send = through.look, through.write
	} else {
		s.look, s.send = func() (election.Status, error) { return Ask(ctx, c.Observer) }, to.write
		work.Go(func() { to.run(ctx) })
	}
	workloads.NewWriter(s, c.ID, life, c.Writer.Every, c.Writer.Gap).Start()
	s.run()
	return nil
}

// sidecar is the workloads.Host beside a real server.
type sidecar struct {
	ctx     context.Context // of the one call of run
	began   time.Time
	look    func() (election.Status, error)
	send    func(token uint64, value int64)
	rand    *rand.Rand
	calls   agenda
	log     *log.Logger
	trouble string // with the last answer, which is logged once
}

func (s *sidecar) run() {
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		s.calls.keep(s.now())
		alarm.Reset(s.calls.next(s.now()+time.Hour) - s.now())
		select {
		case <-alarm.C:
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *sidecar) now() time.Duration { return time.Since(s.began) }

func (s *sidecar) Rand() *rand.Rand                { return s.rand }
func (s *sidecar) Write(token uint64, value int64) { s.send(token, value) }
func (s *sidecar) After(d time.Duration, f func()) { s.calls.add(s.now()+d, f) }

// Watch implements workloads.Host.
func (s *sidecar) Watch(every time.Duration, sees func(election.Status) (again bool)) {
	workloads.Poll(s, every, sees)
}

// Status asks the server.
func (s *sidecar) Status(done func(election.Status)) {
	status, err := s.look()
	trouble := ""
	if err != nil {
		trouble = err.Error()
	}
	if trouble != "" && trouble != s.trouble {
		s.log.Printf("whether the server leads is not known: %s", trouble)
	}
	s.trouble = trouble
	done(status)
}

const observePatience = time.Second

// Ask asks a server for its status on behalf of the writer beside it, for a second at most. One that gives no answer, or one
// put together from several, does not lead: an error comes with the zero status.
func Ask(ctx context.Context, server election.Observer) (election.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, observePatience)
	defer cancel()
	status, torn, err := server.Observe(ctx)
	switch {
	case err != nil:
		return election.Status{}, err
	case torn:
		return election.Status{}, errors.New("its answer is not of one instant")
	}
	return status, nil
}
