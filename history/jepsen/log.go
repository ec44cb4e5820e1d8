package jepsen

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

// A log tells of ops line by line: process, type, f, value, and what went wrong. What stands before them is up to the
// logger, and changed over the years:
//
//	INFO  jepsen.util - 3	:invoke	:cas	[1 2]
//	2020-01-01 12:00:00,123{GMT}	INFO	[jepsen worker 2] jepsen.util: 2	:info	:cas	:timed-out
//	INFO [2023-05-04 17:00:00,123] jepsen worker 2 - jepsen.util 2	:invoke	:read	nil
//	2	:invoke	:read	nil
//	INFO  jepsen.util - {:process 2, :type :invoke, :f :read, :value nil}
//
// The fourth is history.txt, the last is what a test logs by itself. Lines that tell of something else are passed over; what
// looks like an op must be one.
var (
	// logged is an op of anybody's: a number or a keyword, and a type; or any word, a type, and a keyword.
	logged = regexp.MustCompile(`(?:^|\s)(?:([-+]?\d\S*|:\S+)\s+:(?:invoke|ok|fail|info)(?:\s|$)|(\S+)\s+:(?:invoke|ok|fail|info)\s+:\S)`)

	// byLogger is what Jepsen's loggers of ops tell: a number or a keyword, and then a keyword; or anything, and then a type.
	byLogger = regexp.MustCompile(`\bjepsen\.(?:util|print)(?:\s+-|:)?\s+((?:[-+]?\d\S*|:\S+|")\s+:\S.*|\S+\s+:(?:invoke|ok|fail|info)(?:\s.*|$))`)

	// mapped is an op as EDN has it that a logger tells.
	mapped = regexp.MustCompile(`(?:\s-|\S:|\bjepsen\.\S+)\s+((?:#\S+\s*)?\{.*:type\s+:(?:invoke|ok|fail|info)\b.*)`)

	// level is what a line of a log has that tells of something else.
	level = regexp.MustCompile(`^(\S+\s+\S+\s+)?(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b`)
)

// opIn returns where the op of a line begins, -1 if there is none in it.
func opIn(line string) int {
	first := -1
	for _, p := range []*regexp.Regexp{byLogger, mapped, logged} {
		at := p.FindStringSubmatchIndex(line)
		if at == nil {
			continue
		}
		if begin := max(at[2], at[len(at)-2]); first < 0 || begin < first { // one of them is -1
			first = begin
		}
	}
	return first
}

// maxLogLine is the longest line of a log, in bytes.
const maxLogLine = 1 << 20

func isLog(line string) bool { return opIn(line) >= 0 || level.MatchString(line) }

// readLog reads the lines that tell of ops.
func (b *builder) readLog(r *bufio.Reader) error {
	for n := 1; ; n++ {
		text, err := readLine(r, n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		line := strings.TrimRight(text, " \t\r\n")
		at := opIn(line)
		switch {
		case at < 0 && (line == "" || level.MatchString(line)):
			continue
		case at < 0:
			return hint.Add(problem(n, 1, "no line of Jepsen's log: want one like INFO jepsen.util - 3 :invoke :cas [1 2]"),
				"of a whole log take grep -P ':(invoke|ok|fail|info)\\s' jepsen.log")
		}
		if err := b.logLine(n, at, line[at:]); err != nil {
			return err
		}
	}
}

// readLine reads a line. The last one may lack its end if nothing more can have been in it.
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
		case err == nil || errors.Is(err, io.EOF) && len(text) == 0:
			return string(text), err
		case errors.Is(err, io.EOF) && bytes.IndexByte([]byte(")]}\""), text[len(text)-1]) >= 0:
			return string(text), nil
		case errors.Is(err, io.EOF):
			return "", &edn.SyntaxError{Line: n, Column: len(text) + 1, Ended: true,
				Problem: "cut off in the middle of a line: want its end, so that a 1 is seen not to be half of a 12"}
		}
		return "", err
	}
}

// logLine reads process, type, f, value and perhaps what went wrong; or a map.
func (b *builder) logLine(n, before int, text string) error {
	r := edn.NewReader(strings.NewReader(text))
	var words []any
	for {
		v, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if s, ok := errors.AsType[*edn.SyntaxError](err); ok && len(words) > 3 && errorOf(words) {
			// what went wrong is told in any notation: an exception's name, an object's
			words = append(words, strings.ToValidUTF8(strings.TrimSpace(text[min(s.Column-1, len(text)):]), "\ufffd"))
			break
		} else if ok {
			return problem(n, before+s.Column, "%s", s.Problem)
		}
		if err != nil {
			return err
		}
		words = append(words, v)
	}
	if len(words) == 1 {
		if m, ok := untagged(words[0]).(edn.Map); ok {
			e, err := eventOf(n, before+1, m)
			if err != nil {
				return err
			}
			return b.add(e)
		}
	}
	if len(words) < 3 {
		return problem(n, before+len(text)+1, "the line ends: want process, type, f and value, as in 3 :invoke :cas [1 2]")
	}
	e := event{line: n, column: before + 1, index: -1, time: -1, kind: typeOf(words[1]), lone: true}
	f, ok := words[2].(edn.Keyword)
	var wrong string
	e.f = f
	switch e.process, wrong = processOf(words[0]); {
	case wrong != "":
		return problem(n, before+1, "%s", wrong)
	case e.kind == 0:
		return problem(n, before+1, "%s: want :invoke, :ok, :fail or :info after the process", short(words[1]))
	case !ok:
		return problem(n, before+1, "%s: want what is done after the type, as in :read", short(words[2]))
	}
	if len(words) > 3 {
		if e.value = words[3]; errorOf(words) {
			e.problem = plain(words[len(words)-1])
		}
	}
	return b.add(e)
}

// errorOf reports whether a line may tell what went wrong.
func errorOf(words []any) bool {
	kind := typeOf(words[1])
	return kind == history.Fail || kind == history.Info
}
