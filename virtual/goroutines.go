package virtual

import (
	"regexp"
	"strings"
)

// Goroutines are goroutines of a process that were at the same, in the order in which the runtime names them.
type Goroutines struct {
	IDs   []string // as in the process's log
	State string   // what they wait for: "select"
	// Stack is of the first of them: of each call a line, and another, indented, that says where it is. At its end is who made it. What
	// the runtime calls in itself is left out, as in stacks that it writes for a panic.
	Stack string
}

var (
	goroutine = regexp.MustCompile(`^goroutine (\d+) .*?\[([^\]]*)\]:$`)
	// bubble is what the runtime adds since each process lives in a bubble of testing/synctest.
	bubble = regexp.MustCompile(` \(durable\)|, synctest bubble \d+`)
	// where is what it adds to a place in the source.
	where = regexp.MustCompile(`( \+0x[0-9a-f]+)?( fp=\S+ sp=\S+ pc=\S+)?$`)
	// own is what differs between goroutines at the same: arguments of calls, and by whom they were made.
	own = regexp.MustCompile(`\([^()]*\)$| in goroutine \d+$`)
)

// goroutines reads the stacks that a runtime has written for SIGQUIT. Those of its own goroutines are left out.
func goroutines(text string) (all []Goroutines) {
	seen := map[string]int{}
	for block := range strings.SplitSeq(text, "\n\n") {
		first, rest, _ := strings.Cut(strings.TrimLeft(block, "\n"), "\n")
		is := goroutine.FindStringSubmatch(first)
		if is == nil || is[1] == "1" { // whose main waits for the program's
			continue
		}
		g := Goroutines{IDs: is[1:2], State: bubble.ReplaceAllString(is[2], "")}
		same := g.State
		calls := strings.Split(strings.TrimSpace(rest), "\n")
		for i := 0; i+1 < len(calls); i += 2 {
			what, at := calls[i], where.ReplaceAllString(calls[i+1], "")
			if inRuntime(what) {
				continue
			}
			g.Stack += what + "\n" + at + "\n"
			same += "\n" + own.ReplaceAllString(what, "") + at
		}
		if g.Stack == "" {
			continue
		}
		if i, known := seen[same]; known {
			all[i].IDs = append(all[i].IDs, is[1])
			continue
		}
		seen[same] = len(all)
		all = append(all, g)
	}
	return all
}

// inRuntime tells whether a call is of the runtime's own, or of what stands below a program here.
func inRuntime(call string) bool {
	call = strings.TrimPrefix(call, "created by ")
	return strings.HasPrefix(call, "runtime.") || call == "recount.program()"
}
