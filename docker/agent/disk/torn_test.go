//go:build linux

package disk

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// torn crashes a disk on which four sectors of a and a few bytes were synced, in the midst of what write does to the file, and returns what
// the file holds then.
func torn(t *testing.T, seed uint64, write func(d *Disk, i *inode)) string {
	d := New(rand.New(rand.NewPCG(seed, 0)))
	i, _ := d.make(d.root, "a", syscall.S_IFREG, 0, 0, "")
	require.Zero(t, d.write(i, []byte(strings.Repeat("a", 4*sectorSize+8)), 0))
	require.Zero(t, d.sync(i))
	write(d, i)
	d.Set(history.DiskState{Torn: true})
	d.Crash()
	left := d.tree()["/a"]
	d.Crash()
	require.Equal(t, left, d.tree()["/a"], "what is left is on disk")
	return left
}

// pattern is what each sector begins with.
func pattern(left string) (p string) {
	for at := 0; at < len(left); at += sectorSize {
		p += left[at : at+1]
	}
	return p
}

func TestAWriteIsTornBetweenSectors(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(300) {
		left := torn(t, seed, func(d *Disk, i *inode) {
			require.Zero(t, d.write(i, []byte("lost"), 0))
			require.Zero(t, d.write(i, []byte(strings.Repeat("b", 3*sectorSize)), sectorSize))
		})
		require.Len(t, left, 4*sectorSize+8)
		require.Equal(t, "aaaa", left[:4])
		for at := 0; at < len(left); at += sectorSize {
			require.Empty(t, strings.Trim(left[at:min(len(left), at+sectorSize)], left[at:at+1]), "a sector is whole")
		}
		seen[pattern(left)]++
	}
	for _, p := range []string{"abaaa", "aabaa", "aaaba", "abbaa", "ababa", "aabba"} {
		require.Positive(t, seen[p], p)
		delete(seen, p)
	}
	require.Empty(t, seen, "neither all of it nor nothing")
}

func TestAWriteThatEndsInASectorTakesTheSectorAlong(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(100) {
		seen[torn(t, seed, func(d *Disk, i *inode) {
			require.Zero(t, d.write(i, []byte("first"), 4*sectorSize+8))
			require.Zero(t, d.write(i, []byte("second"), 4*sectorSize+13))
		})[4*sectorSize:]]++
	}
	require.Len(t, seen, 2, "all or nothing")
	require.Positive(t, seen["aaaaaaaa"])
	require.Positive(t, seen["aaaaaaaafirstsecond"])
}

func TestWhatWasSyncedOrHasNoNameIsNotTorn(t *testing.T) {
	for seed := range uint64(50) {
		synced := torn(t, seed, func(d *Disk, i *inode) {
			require.Zero(t, d.write(i, []byte(strings.Repeat("b", 3*sectorSize)), 0))
			require.Zero(t, d.sync(i))
		})
		require.Equal(t, "bbbaa", pattern(synced))
		nameless := torn(t, seed, func(d *Disk, _ *inode) {
			fresh, _ := d.make(d.root, "b", syscall.S_IFREG, 0, 0, "")
			require.Zero(t, d.write(fresh, []byte(strings.Repeat("b", 3*sectorSize)), 0))
		})
		require.Equal(t, "aaaaa", pattern(nameless))
	}
}
