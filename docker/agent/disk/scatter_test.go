//go:build linux

package disk

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// scattered crashes a disk, on which files a and b with "old" were synced, after what is done to it, once with each of many seeds, and returns how
// often there was what then.
func scattered(t *testing.T, do func(d *Disk, a, b *inode)) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for seed := range uint64(400) {
		d := New(rand.New(rand.NewPCG(seed, 0)))
		both := [2]*inode{}
		for k, name := range []string{"a", "b"} {
			both[k], _ = d.make(d.root, name, syscall.S_IFREG, 0, 0, "")
			require.Zero(t, d.write(both[k], []byte("old"), 0))
			require.Zero(t, d.sync(both[k]))
		}
		do(d, both[0], both[1])
		d.Set(history.DiskState{Scattered: true})
		d.Crash()
		left := d.tree()
		words := make([]string, 0, len(left))
		for _, name := range slices.Sorted(maps.Keys(left)) {
			words = append(words, name[1:]+"="+strings.ReplaceAll(left[name], "\x00", "0"))
		}
		seen[strings.Join(words, " ")]++
		d.Set(history.DiskState{})
		d.Crash()
		require.Equal(t, left, d.tree(), "what is left is on disk")
	}
	return seen
}

func TestAnyOfTwoWritesMayBeLeft(t *testing.T) {
	seen := scattered(t, func(d *Disk, a, b *inode) {
		require.Zero(t, d.write(a, []byte("new"), 0))
		require.Zero(t, d.write(b, []byte("new"), 0))
	})
	require.ElementsMatch(t, []string{"a=old b=old", "a=new b=old", "a=old b=new", "a=new b=new"}, slices.Collect(maps.Keys(seen)))
}

func TestWhatWasSyncedIsLeft(t *testing.T) {
	require.Equal(t, []string{"a=new b=old"}, slices.Collect(maps.Keys(scattered(t, func(d *Disk, a, _ *inode) {
		require.Zero(t, d.write(a, []byte("new"), 0))
		require.Zero(t, d.sync(a))
	}))))
}

// A name may be there without what was written under it, as of a file that was renamed over another and not synced.
func TestANameMayBeLeftWithoutItsContent(t *testing.T) {
	seen := scattered(t, func(d *Disk, a, _ *inode) {
		fresh, _ := d.make(d.root, "c", syscall.S_IFREG, 0, 0, "")
		require.Zero(t, d.write(fresh, []byte("new"), 0))
		require.Zero(t, d.rename(d.root, "c", d.root, "a", 0))
	})
	require.ElementsMatch(t, []string{
		"a=old b=old",                                              // neither
		"a=old b=old c=", "a=old b=old c=000", "a=old b=old c=new", // the file was made, and not renamed yet
		"a= b=old", "a=000 b=old", "a=new b=old",
	}, slices.Collect(maps.Keys(seen)))
}

func TestALengthMayBeLeftWithoutItsPages(t *testing.T) {
	page := strings.Repeat("x", pageSize)
	grown := scattered(t, func(d *Disk, a, _ *inode) { require.Zero(t, d.write(a, []byte(page+"y"), 0)) })
	zeros := strings.Repeat("0", pageSize-3)
	for _, want := range []string{"old", "xxx", "old" + zeros + "0", "old" + zeros + "y", page + "0", page + "y"} {
		require.Positive(t, grown["a="+want+" b=old"], clip(want))
		delete(grown, "a="+want+" b=old")
	}
	require.Empty(t, grown)

	cut := scattered(t, func(d *Disk, a, _ *inode) {
		require.Zero(t, d.write(a, []byte(page+page), 0))
		require.Zero(t, d.sync(a))
		require.Zero(t, d.truncate(a, 1))
	})
	for _, want := range []string{"x", page + page, "x" + strings.Repeat("0", pageSize-1) + page} {
		require.Positive(t, cut["a="+want+" b=old"], clip(want))
		delete(cut, "a="+want+" b=old")
	}
	require.Empty(t, cut, "what is not cut off is there")
}

func clip(s string) string { return s[:min(len(s), 4)] + "…" + s[max(0, len(s)-4):] }
