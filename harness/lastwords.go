package harness

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"recount/internal/hint"
)

// why begins the lines by which programs say that they end over something: Go's, Java's, Python's and loggers' own.
var why = regexp.MustCompile(`^(panic: |fatal error: |runtime: |Exception in thread |[A-Za-z_.]+(Error|Exception): |\W*(FATAL|CRITICAL|PANIC)\b)`)

// lastWords returns, quoted, what a process wrote to its log of why it ended: the last line that says so, or else the last
// line, unless the log goes on with what other processes wrote. It is "" if there is none.
func lastWords(path string, goesOn bool) string {
	const looked, told = 64 << 10, 200
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		f.Seek(max(0, info.Size()-looked), io.SeekStart)
	}
	log, _ := io.ReadAll(f) // what can be read of it
	var last, reason []byte
	for line := range bytes.Lines(log) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			last = line
			if why.Match(line) {
				reason = line
			}
		}
	}
	if reason != nil || goesOn {
		last = reason
	}
	switch {
	case len(last) == 0:
		return ""
	case len(last) > told:
		return strconv.Quote(string(last[:told])) + "…"
	}
	return strconv.Quote(string(last))
}

// unready is the error of a node that ended, as ended says, before it was ready, with what it wrote of that: a run that could not
// begin may leave no log, as in hunts. save writes the logs of all nodes to a folder.
func unready(ctx context.Context, ended string, save func(ctx context.Context, dir string) error) error {
	wrote := ""
	if dir, err := os.MkdirTemp("", "recount-logs-"); err == nil {
		defer os.RemoveAll(dir)
		node, _, _ := strings.Cut(ended, " ")
		if save(context.WithoutCancel(ctx), dir) == nil {
			if words := lastWords(filepath.Join(dir, "nodes", node+".log"), false); words != "" {
				wrote = "; it wrote " + words
			}
		}
	}
	return hint.Add(fmt.Errorf("%s before it was ready%s", ended, wrote), "its log tells why")
}
