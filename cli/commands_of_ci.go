package cli

import (
	"bytes"
	"io"
	"os"
	"sync"
	"unicode"
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

// tame breaks what would be commands.
func tame(text []byte) (tame []byte) {
	for len(text) > 0 {
		end := bytes.IndexAny(text, "\r\n") + 1
		if end == 0 {
			end = len(text)
		}
		line := bytes.ReplaceAll(text[:end], []byte("##["), []byte("# #["))
		if words := bytes.TrimLeftFunc(line, unicode.IsSpace); bytes.HasPrefix(words, []byte("::")) {
			blanks := line[:len(line)-len(words)]
			line = append(append(bytes.Clone(blanks), ": :"...), words[2:]...)
		}
		tame, text = append(tame, line...), text[end:]
	}
	return tame
}

// untamed is where commands are to go that are meant.
func untamed(w io.Writer) io.Writer {
	if t, is := w.(*tamed); is {
		return t.to
	}
	return w
}
