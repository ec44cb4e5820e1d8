package cli

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// piped is an output that is read by somebody who may go away: head, tee, a shell on another machine. It is written to in vain from then on.
type piped struct {
	to   *os.File
	gone func()
}

// outliving returns an output to which a write does not end the program where nobody reads it any more, as SIGPIPE would: there may be
// containers to remove. It calls gone then, which may be called again.
func outliving(w io.Writer, gone func()) io.Writer {
	file, is := w.(*os.File)
	if !is {
		return w
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 && info.Mode()&os.ModeSocket == 0 {
		return w // of a terminal that is gone SIGHUP tells
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // so that Write returns
	return &piped{file, gone}
}

func (p *piped) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.gone()
		return len(b), nil
	}
	return n, err
}
