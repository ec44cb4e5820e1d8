package linear

import (
	"context"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// defaultMemory is what searches may take together if nothing else is said and the machine has it.
const defaultMemory = 1 << 30

// leastMemory is enough for the questions that histories of elections mostly ask.
const leastMemory = 64 << 20

// memory is what searches may take together. Only one that needs much of it is under way at any time.
type memory struct {
	bytes int64
	mu    sync.Mutex
}

type memoryKey struct{}

// WithMemory returns a context with which all checks together take no more than this many bytes for deciding, on top of
// the histories themselves. A question that needs more is unknown. Time is limited by the context's deadline.
func WithMemory(ctx context.Context, bytes int64) context.Context {
	return context.WithValue(ctx, memoryKey{}, &memory{bytes: bytes})
}

// memoryOf is what ctx allows, or else all checks in this process share a limit.
func memoryOf(ctx context.Context) *memory {
	if m, ok := ctx.Value(memoryKey{}).(*memory); ok {
		return m
	}
	return shared()
}

var shared = sync.OnceValue(func() *memory { return &memory{bytes: min(defaultMemory, max(leastMemory, available()/2))} })

// available is how much memory this process may still take before somebody ends it: the least of what the machine has
// left, what its control group allows, and what GOMEMLIMIT does. Where nothing tells, it is plenty.
func available() int64 {
	least := debug.SetMemoryLimit(-1)
	if kib, ok := readFigure("/proc/meminfo", "MemAvailable:"); ok {
		least = min(least, kib<<10)
	}
	const group = "/sys/fs/cgroup/"
	for _, files := range [...]struct{ limit, used, stat, cache string }{
		{"memory.max", "memory.current", "memory.stat", "inactive_file"},
		{"memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"},
	} {
		limit, ok1 := readFigure(group+files.limit, "")
		used, ok2 := readFigure(group+files.used, "")
		cache, ok3 := readFigure(group+files.stat, files.cache) // which the kernel gives back
		if ok1 && ok2 && ok3 {
			least = min(least, limit-used+cache)
		}
	}
	return least
}

// readFigure reads the number after a name from a file, or its only one. The file need not be there, nor have it.
func readFigure(file, name string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if name != "" && (len(words) < 2 || words[0] != name) || len(words) == 0 {
			continue
		}
		if name != "" {
			words = words[1:]
		}
		n, err := strconv.ParseInt(words[0], 10, 64)
		return n, err == nil
	}
	return 0, false
}
