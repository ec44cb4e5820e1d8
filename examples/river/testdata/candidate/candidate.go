// Package candidate is a client of River, a job queue over PostgreSQL whose clients elect one among them for the upkeep, which answers
// who leads by HTTP. River has no way to ask for that, so it is taken from what a client logs of its elections.
package candidate

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// Main runs until its client ends; with the word migrate it makes River's tables, or finds them made.
func Main() {
	database := flag.String("database", "", "URL")
	listen := flag.String("listen", "", "address to answer at")
	flag.Parse()
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, *database)
	if err == nil && flag.Arg(0) == "migrate" {
		_, err = rivermigrate.New(riverpgxv5.New(pool), nil).Migrate(ctx, rivermigrate.DirectionUp, nil)
	} else if err == nil {
		err = run(ctx, pool, *listen)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, pool *pgxpool.Pool, listen string) error {
	e := &election{Handler: slog.NewTextHandler(os.Stdout, nil)}
	go func() { log.Fatal(http.ListenAndServe(listen, e)) }()
	for ; ; time.Sleep(500 * time.Millisecond) { // until the database is up, and has River's tables
		_, err := pool.Exec(ctx, "select from river_leader")
		if err == nil {
			break
		}
		log.Print(err)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[nothing]) error { return nil }))
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Logger:  slog.New(e),
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 1}},
		Workers: workers,
	})
	if err != nil {
		return err
	}
	if err = client.Start(ctx); err != nil {
		return err
	}
	<-client.Stopped()
	return errors.New("the client ended")
}

type nothing struct{}

func (nothing) Kind() string { return "nothing" }

// election is a log that hears who leads.
type election struct {
	slog.Handler
	leads atomic.Bool
}

func (e *election) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasSuffix(r.Message, "Election change received") {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "is_leader" {
				e.leads.Store(a.Value.Bool())
			}
			return true
		})
	}
	return e.Handler.Handle(ctx, r)
}

// Groups and attributes make no other log of it.

func (e *election) WithGroup(string) slog.Handler      { return e }
func (e *election) WithAttrs([]slog.Attr) slog.Handler { return e }

func (e *election) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	role := "follower"
	if e.leads.Load() {
		role = "leader"
	}
	json.NewEncoder(w).Encode(map[string]string{"role": role})
}
