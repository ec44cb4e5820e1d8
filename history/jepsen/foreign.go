// Package jepsen reads histories that other tools recorded: Jepsen's history.edn, and logs in which Jepsen told of its
// operations line by line, as Knossos and porcupine use them for tests. It also writes Recount's for Jepsen's tools.
package jepsen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
)

// Options say what a history is about.
type Options struct {
	Model       string // what operations were on; "" to go by what they are called
	Independent bool   // values are [key value], of objects that have nothing to do with each other
	Initial     any    // what registers hold at first, in EDN; nil is nothing. Of a multi-register a map may say it key by key
	Cut         bool   // read a text that was cut off up to there, and judge what there is
	Memory      int64  // bytes that the history may take
}

// Format is how a history is written down.
type Format int

// The formats.
const (
	Unknown Format = iota
	JSONL          // Recount's own, or what might be if it stood in lines
	EDN            // Jepsen's: a vector of maps, or one map after the other
	Log            // Jepsen's log: INFO jepsen.util - 3 :invoke :cas [1 2]
)

// Sniff tells a format by how a text begins.
func Sniff(begin []byte) Format {
	text := bytes.TrimLeft(begin, " \t\r\n\ufeff")
	switch {
	case len(text) == 0:
		return JSONL // an empty history is one of Recount's that had no time to begin
	case text[0] == '{':
		if rest := bytes.TrimLeft(text[1:], " \t\r\n"); len(rest) > 0 && (rest[0] == '"' || rest[0] == '}') {
			return JSONL
		}
		return EDN
	case isArray(text):
		return JSONL
	case strings.IndexByte("[(;#", text[0]) >= 0:
		return EDN
	}
	if line, _, _ := bytes.Cut(text, []byte("\n")); isLog(string(line)) {
		return Log
	}
	return Unknown
}

// isArray reports whether a text begins as a JSON array of objects does: in EDN no op has a string for a key.
func isArray(text []byte) bool {
	for _, c := range []byte(`[{"`) {
		if text = bytes.TrimLeft(text, " \t\r\n"); len(text) == 0 || text[0] != c {
			return false
		}
		text = text[1:]
	}
	return true
}

// errFormat is the error of a text in no format it knows.
var errFormat = hint.Add(
	errors.New("line 1, column 1: no history: want Recount's JSON lines, Jepsen's EDN, or lines like "+
		"INFO jepsen.util - 3 :invoke :read nil"),
	"Jepsen stores history.edn in its run's folder; of its log take grep jepsen.util jepsen.log")

// Read reads a history in one of the formats of others, which must be complete. It returns the model that it is about. An
// error tells the line and the column, and is io.ErrUnexpectedEOF where the text was cut off.
func Read(r io.Reader, f Format, o Options) (*history.History, Model, error) {
	b := newBuilder(o)
	var err error
	switch f {
	case EDN:
		err = b.readEDN(edn.NewReader(r))
	case Log:
		err = b.readLog(bufio.NewReader(r))
	default:
		err = errFormat
	}
	if b.cut = errors.Is(err, io.ErrUnexpectedEOF); err != nil && (!b.cut || !o.Cut) {
		return nil, Model{}, err
	}
	return b.history()
}

// problem is an error at a place in a text.
func problem(line, column int, format string, args ...any) error {
	return &edn.SyntaxError{Line: line, Column: column, Problem: fmt.Sprintf(format, args...)}
}
