package jepsen

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"

	"recount/history"
	"recount/history/edn"
)

// logged is how a line tells of an op: "INFO  jepsen.util - 3	:invoke	:cas	[1 2]", or with the time and the thread before.
var logged = regexp.MustCompile(`\bjepsen\.util(\s+-|:)\s+`)

// level is what a line of a log has that tells of something else.
var level = regexp.MustCompile(`^(\S+\s+\S+\s+)?(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b`)

// maxLogLine is the longest line of a log, in bytes.
const maxLogLine = 1 << 20

func isLog(line []byte) bool { return logged.Match(line) || level.Match(line) }

// readLog reads the lines that tell of ops. Those of other parts of Jepsen are passed over.
func (b *builder) readLog(r *bufio.Reader) error {
	for n := 1; ; n++ {
		text, err := readLine(r, n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line := strings.TrimRight(text, " \t\r\n")
		at := logged.FindStringIndex(line)
		switch {
		case at == nil && (line == "" || level.MatchString(line)):
			continue
		case at == nil:
			return problem(n, 1, "no line of Jepsen's log: want one like INFO jepsen.util - 3 :invoke :cas [1 2]")
		}
		if err := b.logLine(n, at[1], line[at[1]:]); err != nil {
			return err
		}
	}
}

// readLine reads a line, which must have its end.
func readLine(r *bufio.Reader, n int) (string, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch i := bytes.IndexByte(text, 0); {
		case i >= 0:
			return "", problem(n, i+1, "a byte 0: want text")
		case len(text) > maxLogLine:
			return "", problem(n, maxLogLine+1, "the line goes on after %d MiB: want one op a line", maxLogLine>>20)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(text) > 0:
			return "", problem(n, len(text)+1, "cut off in the middle of a line: want its end")
		}
		return string(text), err
	}
}

// logLine reads process, type, f, value and perhaps what went wrong.
func (b *builder) logLine(n, before int, text string) error {
	r := edn.NewReader(strings.NewReader(text))
	var words []any
	for {
		v, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if s, ok := errors.AsType[*edn.SyntaxError](err); ok {
			return problem(n, before+s.Column, "%s", s.Problem)
		}
		if err != nil {
			return err
		}
		words = append(words, v)
	}
	if len(words) < 3 {
		return problem(n, before+len(text)+1, "the line ends: want process, type, f and value, as in 3 :invoke :cas [1 2]")
	}
	e := event{line: n, column: before + 1, index: -1, time: -1, process: words[0], kind: types[words[1]], lone: true}
	if process, ok := words[0].(int64); ok && (process < 0 || process > math.MaxInt32) {
		return problem(n, before+1, "process %d: want 0 to %d", process, math.MaxInt32)
	}
	f, ok := words[2].(edn.Keyword)
	switch e.f = f; {
	case e.kind == 0:
		return problem(n, before+1, "%s: want :invoke, :ok, :fail or :info after the process", short(words[1]))
	case !ok:
		return problem(n, before+1, "%s: want what is done after the type, as in :read", short(words[2]))
	}
	if len(words) > 3 {
		if e.value = untagged(words[3]); e.kind == history.Fail || e.kind == history.Info {
			e.problem = edn.Text(words[len(words)-1])
		}
	}
	return b.add(e)
}
