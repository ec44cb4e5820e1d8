package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"recount/report"
)

// progress tells how far long work is: in one line that is written anew on a terminal, else a line now and then.
type progress struct {
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
	every := 10 * time.Second
	switch {
	case p.terminal:
		every = 200 * time.Millisecond
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
	fmt.Fprintf(p.cmd.ErrOrStderr(), "\r\x1b[Krecount: %s", line())
	p.open = true
}

// end clears the line on a terminal. What is told from then on is of other work.
func (p *progress) end() {
	p.told, p.begun = time.Now(), false
	if p.open {
		fmt.Fprint(p.cmd.ErrOrStderr(), "\r\x1b[K")
		p.open = false
	}
}
