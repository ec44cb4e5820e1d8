package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"recount/harness"
)

// large is how many bytes of histories are worth sparing a garbage collection for.
const large = 64 << 20

// sparing puts off the first garbage collection until half of the memory is taken. A long history is one block that is
// allocated at once and stays: looking through it for garbage takes as long as judging it by most properties. From the
// first collection on, and after the function that it returns, collections go as they went before.
func sparing(memory int64, paths []string) (back func()) {
	bytes := int64(0)
	for _, path := range paths {
		if file, err := historyOf(path); err == nil && strings.Contains(filepath.Base(file), ".jsonl") {
			continue // judged as it is read
		}
		if info, err := os.Stat(path); err == nil {
			bytes += info.Size()
		}
	}
	harness.LimitMemory(memory)
	if bytes < large {
		return func() {}
	}
	percent := debug.SetGCPercent(-1)
	full := harness.LimitMemory(memory / 2)
	back = func() {
		debug.SetGCPercent(percent)
		full()
	}
	runtime.AddCleanup(new([64]byte), func(back func()) { back() }, back)
	return back
}
