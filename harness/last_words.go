package harness

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/harness/record"
	"recount/history"
	"recount/internal/hint"
	"recount/virtual"
)

// why begins the lines by which programs say that they end over something: Go's, Java's, Python's and loggers' own, and what those say
// of their command line that print how they are used after it.
var why = regexp.MustCompile(`^(panic: |fatal error: |runtime: |Exception in thread |[A-Za-z_.]+(Error|Exception): |\W*(FATAL|CRITICAL|PANIC)\b` +
	`|(\S+: )*(error: |Error: )?(flag provided but not defined|invalid value .* for flag |unknown (shorthand )?(flag|option)|unrecogni[sz]ed (argument|option)))`)

// frame is the second line of a call on a stack of Go's; the first names the function.
var frame = regexp.MustCompile(`^\t\S+\.(go|s):\d+`)

// lastWords returns, quoted, what a process wrote to its log of why it ended: the last line that says so, or else the last
// line above a stack, unless the log goes on with what other processes wrote. It is "" if there is none.
func lastWords(path string, goesOn bool) string {
	const looked = 64 << 10
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		f.Seek(max(0, info.Size()-looked), io.SeekStart)
	}
	log, _ := io.ReadAll(f) // what can be read of it
	var before, last, reason []byte
	for line := range bytes.Lines(log) {
		if frame.Match(line) {
			last = before
			continue
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			before, last = last, line
			if why.Match(line) {
				reason = line
			}
		}
	}
	if reason != nil || goesOn {
		last = reason
	}
	return quoted(last)
}

// firstWords returns, quoted, the first line that a process wrote to its log: where it ended at once, that may be what it ended over, with
// much after it of how it is used.
func firstWords(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			return quoted(line)
		}
	}
	return ""
}

// quoted is a line, or its beginning.
func quoted(line []byte) string {
	const told = 200
	switch {
	case len(line) == 0:
		return ""
	case len(line) > told:
		return strconv.Quote(string(line[:told])) + "…"
	}
	return strconv.Quote(string(line))
}

// wroteOf is what a node that ended, as ended says, wrote of that; "" if nobody knows. save writes the logs of all nodes to a folder.
func wroteOf(ctx context.Context, ended string, save func(ctx context.Context, dir string) error) string {
	dir, err := os.MkdirTemp("", "recount-logs-")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(dir)
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), patienceWithLogs)
	defer cancel()
	if save(saving, dir) != nil {
		return ""
	}
	node, _, _ := strings.Cut(ended, " ")
	log := filepath.Join(dir, node+".log")
	first, last := firstWords(log), lastWords(log, false)
	switch reason := lastWords(log, true); {
	case reason != "" || first == last && last != "":
		return "; it wrote " + last
	case last != "":
		return "; it wrote first " + first + " and last " + last
	}
	return ""
}

// unready is the error of a node that ended, as ended says, before it was ready, with what it wrote of that: a run that could not
// begin may leave no log, as in hunts.
func unready(ctx context.Context, ended string, save func(ctx context.Context, dir string) error) error {
	wrote := wroteOf(ctx, ended, save)
	way := ""
	switch {
	case strings.Contains(wrote, "connection refused"):
		way = tooEarly
	case runsNothing.MatchString(wrote):
		way = noInterpreter
	}
	return &Unstarted{
		err:       hint.Add(fmt.Errorf("%s before it was ready%s", ended, wrote), "%s", cmp.Or(way, "its log tells why")),
		explained: way != "",
	}
}

// tooEarly is the way out where a node ended since another was not there yet.
const tooEarly = "did it look for a node or a service that was not up yet? ready: {in-turn: true} starts each node once the one before it is ready, " +
	"which ready is to say only when that one can be joined; first: true of a service starts all nodes after it; else its log tells why"

// noInterpreter is the way out where the kernel found the program of a node, and not what is to run that: of the program itself an engine
// would have said so before.
const noInterpreter = "the file is there, and what is to run it is not: the program that its first line names after #! (of Debian's packages bash has bash, and coreutils has env), " +
	"or the loader that an executable was linked for"

// runsNothing is what an engine's runtime writes in the place of a node's program that the kernel cannot run.
var runsNothing = regexp.MustCompile(`it wrote "exec /[^ ]+: no such file or directory"$`)

// endedWith tells of each node that ended by itself what its log, saved under dir, says of it. The log of a node that has
// been started again goes on: then its last line was written by another process.
func (r *run) endedWith(ctx context.Context, logs string) (told []string) {
	if len(r.ended) == 0 {
		return nil
	}
	down := map[string]bool{}
	if state, err := r.cluster.State(ctx); err == nil {
		for _, p := range state.Procs {
			down[p.Node] = p.State == history.Down
		}
	}
	for _, node := range slices.Sorted(maps.Keys(r.ended)) {
		if words := lastWords(filepath.Join(logs, node+".log"), !down[node]); words != "" {
			told = append(told, fmt.Sprintf("%s wrote, before it ended: %s%s", node, words, outdated(r.On, words)))
		}
	}
	return told
}

// outdated tells, of a node in virtual time that ended over a certificate, when clocks begin there: one that was made today is valid
// later.
func outdated(on, words string) string {
	if on != record.OnVirtual || !strings.Contains(words, "certificate has expired or is not yet valid") {
		return ""
	}
	return "; in virtual time clocks begin at " + virtual.Epoch.Format(time.RFC3339) + ", and certificates have to be valid then"
}
