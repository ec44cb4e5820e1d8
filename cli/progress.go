package cli

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/harness/batch"
	"recount/internal/count"
	"recount/internal/term"
	"recount/report"
)

// progress tells how far long work is: in one line that is written anew on a terminal, else a line now and then. It may be used by several
// goroutines.
type progress struct {
	mu       sync.Mutex
	cmd      *cobra.Command
	terminal bool
	told     time.Time // when it last was, or when the work began
	begun    bool      // and it was since the work began
	open     bool      // the line on the terminal has no end yet
}

func newProgress(cmd *cobra.Command) *progress {
	file, ok := cmd.ErrOrStderr().(*os.File)
	return &progress{cmd: cmd, terminal: ok && report.Colours(file), told: time.Now()}
}

// tell says something if it is time to.
func (p *progress) tell(line func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	every := 10 * time.Second
	switch {
	case p.terminal:
		every = batch.TellEvery
	case !p.begun: // that it goes on at all is to be seen soon
		every = 2 * time.Second
	}
	if time.Since(p.told) < every {
		return
	}
	p.told, p.begun = time.Now(), true
	if !p.terminal {
		say(p.cmd)(line())
		return
	}
	fmt.Fprintf(p.cmd.ErrOrStderr(), "\r\x1b[Krecount: %s", term.Printable(line()))
	p.open = true
}

// far says how far work is: what is done, how much of how much, what else is worth knowing, and how long it has taken and may yet take, by
// the wall clock. With a budget it takes no longer than that.
func far(p batch.Progress, unit string, budget time.Duration, more ...string) string {
	line := count.Of(p.Done, unit)
	if p.Planned > 0 {
		line = fmt.Sprintf("%d of %s, %d %%", p.Done, count.Of(p.Planned, unit), 100*p.Done/p.Planned)
	}
	for _, m := range more {
		if m != "" {
			line += ", " + m
		}
	}
	line += "; " + p.Passed.Round(time.Second).String()
	if budget > 0 {
		line += fmt.Sprintf(" of %v", budget.Round(time.Second))
	}
	line += " by the wall clock"
	if left := p.Left.Round(time.Second); left > 0 {
		line += fmt.Sprintf(", about %v left", left)
	}
	return p.Doing + ": " + line
}

// end clears the line on a terminal. What is told from then on is of other work.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told, p.begun = time.Now(), false
	p.clear()
}

// building has a line told of each thing that is built for the runs of a command that are not told of one by one.
func (p *progress) building(ctx context.Context) context.Context {
	return harness.Building(ctx, func(line string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clear()
		say(p.cmd)(line)
	})
}

func (p *progress) clear() {
	if p.open {
		fmt.Fprint(p.cmd.ErrOrStderr(), "\r\x1b[K")
		p.open = false
	}
}
