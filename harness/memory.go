package harness

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	// maxOps bounds a history: it is judged in memory.
	maxOps = 20_000_000
	// fewOps fit in whatever there is: to ask how much that is takes longer than to plan a short run.
	fewOps = 100_000
	// opBytes is what an op takes while a run is made and judged.
	opBytes = 450
)

// roomForOps is how many ops a run may make.
func roomForOps() float64 { return min(maxOps, float64(memory())/opBytes) }

// KeepWithin has the program clear up before it fills the memory that it is given, rather than be killed.
func KeepWithin() {
	if limit := memory(); limit < debug.SetMemoryLimit(-1) {
		LimitMemory(limit - limit/10)
	}
}

// LimitMemory has the program clear up before it takes so many bytes, or fewer where that was asked for before: the limit is only ever
// lowered. back makes it what it was.
func LimitMemory(bytes int64) (back func()) {
	was := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(was, bytes))
	return func() { debug.SetMemoryLimit(was) }
}

// memory is how much the program may take, in bytes: by its control group or GOMEMLIMIT. Where neither bounds it, it is more
// than there is.
func memory() int64 {
	limit := debug.SetMemoryLimit(-1)
	own, err := os.Open("/proc/self/cgroup")
	if err != nil {
		return limit
	}
	defer own.Close()
	for lines := bufio.NewScanner(own); lines.Scan(); {
		number, rest, _ := strings.Cut(lines.Text(), ":")
		controllers, path, _ := strings.Cut(rest, ":")
		switch {
		case number == "0" && controllers == "":
			limit = min(limit, bound("/sys/fs/cgroup", path, "memory.max"))
		case controllers == "memory":
			limit = min(limit, bound("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"))
		}
	}
	return limit
}

// bound is the least limit of a control group and those that it is in.
func bound(root, path, file string) int64 {
	least := int64(math.MaxInt64)
	for dir := filepath.Join(root, filepath.Join("/", path)); strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		if b, err := os.ReadFile(filepath.Join(dir, file)); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil { // "max" is none
				least = min(least, n)
			}
		}
	}
	return least
}
