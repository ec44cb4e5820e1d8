package cli

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"sync"
)

// underGitHub reports whether this runs in a step of a workflow of GitHub's.
func underGitHub() bool { return os.Getenv("GITHUB_ACTIONS") == "true" }

// tamed is what a step of a workflow of GitHub's prints. Its runner takes commands from that: a line that begins with "::", blanks aside, or
// has "##[" in it anywhere (TryParseV2 and TryParse in ActionCommand.cs of actions/runner). What is said of a system under test quotes it,
// and is to be none. It may be written to by several goroutines.
type tamed struct {
	to   io.Writer
	mu   sync.Mutex
	line []byte // that has no end yet
}

func (w *tamed) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line = append(w.line, b...)
	end := bytes.LastIndexAny(w.line, "\r\n") + 1
	_, err := w.to.Write(tame(w.line[:end]))
	w.line = append(w.line[:0], w.line[end:]...)
	return len(b), err
}

// end writes a line that has no end.
func (w *tamed) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = w.to.Write(tame(w.line)) // nobody is left to be told
	w.line = nil
}

// commanding is how a line begins that is a command. Blanks are Unicode's, as the runner has them.
var commanding = regexp.MustCompile(`((?:^|[\r\n])[\s\v\x{85}\p{Z}]*):(:)`)

// tame breaks what would be commands in a text that begins with a line.
func tame(text []byte) []byte {
	return bytes.ReplaceAll(commanding.ReplaceAll(text, []byte("${1}: $2")), []byte("##["), []byte("# #["))
}

// untamed is where commands are to go that are meant.
func untamed(w io.Writer) io.Writer {
	if t, is := w.(*tamed); is {
		return t.to
	}
	return w
}
