//go:build linux

package disk

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/history"
	_ "recount/internal/testseed" // the same cases each time
)

// The model is the definition of what survives a crash, told once more and as dumbly as can be: it remembers everything
// that was ever done since the start, and works out from that what is on disk.

// event is one thing that was done to names, or a sync.
type event struct {
	gave    map[string]int // names, as path of the folder's id and the name, and whom they were given to; 0 for nobody
	moved   []int          // whose names changed
	above   []int          // folders whose place it relies on
	emptied int            // a folder that was removed
	synced  int            // who was synced, else 0
	under   []int          // the folders above who was synced, at the time
}

// model is a file system of one folder within another, as ids.
type model struct {
	events []event
	names  map[string]int // "folder/name" to id, as seen
	bytes  map[int][]byte
	saved  map[int][]byte
	folder map[int]bool
	next   int
}

const rootID = 1

func newModel() *model {
	return &model{names: map[string]int{}, bytes: map[int][]byte{}, saved: map[int][]byte{}, folder: map[int]bool{rootID: true}, next: rootID}
}

func at(dir int, name string) string { return fmt.Sprintf("%d/%s", dir, name) }

func dirOf(place string) (dir int) {
	fmt.Sscanf(place, "%d/", &dir)
	return dir
}

// aboves returns an id and all folders above it.
func (m *model) aboves(id int) []int {
	all := []int{id}
	for place, to := range m.names {
		if to == id {
			all = append(all, m.aboves(dirOf(place))...)
		}
	}
	return all
}

// do records a change of names and makes it.
func (m *model) do(e event) {
	for place := range e.gave {
		e.above = append(e.above, m.aboves(dirOf(place))...)
	}
	m.events = append(m.events, e)
	m.replay(m.names, e)
}

func (m *model) replay(names map[string]int, e event) {
	for place, id := range e.gave {
		if delete(names, place); id != 0 {
			names[place] = id
		}
	}
}

// needs tells whether an event relies on an earlier one.
func needs(later, earlier event) bool {
	for place := range later.gave {
		if _, shares := earlier.gave[place]; shares {
			return true
		}
	}
	for place := range earlier.gave {
		if later.emptied != 0 && dirOf(place) == later.emptied {
			return true
		}
	}
	return slices.ContainsFunc(earlier.moved, func(id int) bool {
		return slices.Contains(later.moved, id) || slices.Contains(later.above, id)
	})
}

// crash replays those of all events that a sync has ever forced, or that one of those needs.
func (m *model) crash() {
	forced := make([]bool, len(m.events))
	for s, sync := range m.events {
		for i, e := range m.events[:s] {
			for place := range e.gave {
				forced[i] = forced[i] || sync.synced != 0 && dirOf(place) == sync.synced
			}
			for _, id := range e.moved {
				forced[i] = forced[i] || slices.Contains(sync.under, id)
			}
		}
	}
	for again := true; again; {
		again = false
		for j := range m.events {
			for i := range m.events[:j] {
				if forced[j] && !forced[i] && needs(m.events[j], m.events[i]) {
					forced[i], again = true, true
				}
			}
		}
	}
	m.names = map[string]int{}
	var kept []event
	for i, e := range m.events {
		if forced[i] {
			m.replay(m.names, e)
			kept = append(kept, e)
		}
	}
	// What is left is on disk for good, as if it had been there from the start.
	m.events = append(kept, event{synced: -1})
	all := event{under: slices.Collect(maps.Keys(m.folder))}
	for _, e := range kept {
		all.under = append(all.under, e.moved...)
	}
	m.events = append(m.events, all)
	m.bytes = map[int][]byte{}
	for id, b := range m.saved {
		m.bytes[id] = bytes.Clone(b)
	}
}

// tree is all that can be found: paths, and contents.
func (m *model) tree() map[string]string {
	all := map[string]string{}
	var walk func(dir int, path string)
	walk = func(dir int, path string) {
		for place, id := range m.names {
			if dirOf(place) != dir {
				continue
			}
			name := path + place[strings.IndexByte(place, '/'):]
			if m.folder[id] {
				all[name] = "folder"
				walk(id, name)
			} else {
				all[name] = string(m.bytes[id])
			}
		}
	}
	walk(rootID, "")
	return all
}

// tree is the same of the disk.
func (d *Disk) tree() map[string]string {
	all := map[string]string{}
	var walk func(i *inode, path string)
	walk = func(i *inode, path string) {
		for name, child := range i.entries {
			if child.folder() {
				all[path+"/"+name] = "folder"
				walk(child, path+"/"+name)
			} else {
				b := make([]byte, child.data.size)
				child.data.read(b, 0)
				all[path+"/"+name] = string(b)
			}
		}
	}
	walk(d.root, "")
	return all
}

// TestACrashLeavesWhatTheModelSays lets a disk and the model go through anything, crashes included.
func TestACrashLeavesWhatTheModelSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, m := New(rand.New(rand.NewPCG(1, 0))), newModel()
		inodes := map[int]*inode{rootID: d.root} // by the model's ids
		names := []string{"a", "b", "c"}
		// folders that can be reached
		dirs := func() []int {
			all := []int{rootID}
			for i := 0; i < len(all); i++ {
				for _, n := range names {
					if id := m.names[at(all[i], n)]; m.folder[id] {
						all = append(all, id)
					}
				}
			}
			return all
		}
		pick := func() (dir int, name string, id int) {
			dir = rapid.SampledFrom(dirs()).Draw(rt, "folder")
			name = rapid.SampledFrom(names).Draw(rt, "name")
			return dir, name, m.names[at(dir, name)]
		}
		file := func() (id int, i *inode) {
			var files []int
			for _, dir := range dirs() {
				for _, n := range names {
					if id := m.names[at(dir, n)]; id != 0 && !m.folder[id] {
						files = append(files, id)
					}
				}
			}
			if len(files) == 0 {
				rt.Skip("no file")
			}
			id = rapid.SampledFrom(files).Draw(rt, "file")
			return id, inodes[id]
		}
		create := func(mode uint32) {
			dir, name, is := pick()
			i, err := d.make(inodes[dir], name, mode, 0, 0, "")
			require.Equal(rt, is == 0, err == 0)
			if err == 0 {
				m.next++
				inodes[m.next] = i
				m.folder[m.next] = i.folder()
				m.do(event{gave: map[string]int{at(dir, name): m.next}, moved: []int{m.next}})
			}
		}
		remove := func(folder bool) {
			dir, name, is := pick()
			err := d.remove(inodes[dir], name, folder)
			if err == 0 {
				e := event{gave: map[string]int{at(dir, name): 0}, moved: []int{is}}
				if folder {
					e.emptied = is
				}
				m.do(e)
			}
			require.Equal(rt, is == 0, err == syscall.ENOENT)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) {
				require.Equal(rt, m.tree(), d.tree())
				used := map[*inode]bool{}
				pages := 0
				for _, dir := range dirs() {
					for _, i := range inodes[dir].entries {
						if !i.folder() && !used[i] {
							used[i] = true
							pages += len(i.data.pages)
						}
					}
				}
				require.EqualValues(rt, pages, d.used, "room that is taken")
			},
			"create": func(*rapid.T) { create(syscall.S_IFREG | 0o644) },
			"mkdir":  func(*rapid.T) { create(syscall.S_IFDIR | 0o755) },
			"unlink": func(*rapid.T) { remove(false) },
			"rmdir":  func(*rapid.T) { remove(true) },
			"link": func(rt *rapid.T) {
				id, i := file()
				dir, name, is := pick()
				err := d.link(i, inodes[dir], name)
				require.Equal(rt, is == 0, err == 0)
				if err == 0 {
					m.do(event{gave: map[string]int{at(dir, name): id}, moved: []int{id}})
				}
			},
			"rename": func(rt *rapid.T) {
				dir, name, id := pick()
				to, newName, was := pick()
				if id == 0 || slices.Contains(m.aboves(to), id) {
					rt.Skip("the kernel would not ask for it")
				}
				exchange := rapid.Bool().Draw(rt, "exchange")
				if exchange && (was == 0 || slices.Contains(m.aboves(dir), was)) {
					rt.Skip("nor for this")
				}
				flags := uint32(0)
				e := event{gave: map[string]int{at(dir, name): 0, at(to, newName): id}, moved: []int{id}}
				if exchange {
					flags, e.gave[at(dir, name)] = 2, was
				}
				if was != 0 {
					e.moved = append(e.moved, was)
					if m.folder[was] && !exchange {
						e.emptied = was
					}
				}
				if d.rename(inodes[dir], name, inodes[to], newName, flags) == 0 && id != was {
					m.do(e)
				}
			},
			"write": func(rt *rapid.T) {
				id, i := file()
				off := rapid.IntRange(0, 3*pageSize).Draw(rt, "offset")
				b := bytes.Repeat([]byte{rapid.Byte().Draw(rt, "byte")}, rapid.IntRange(1, 2*pageSize).Draw(rt, "length"))
				require.Zero(rt, d.write(i, b, int64(off)))
				now := m.bytes[id]
				if missing := off + len(b) - len(now); missing > 0 {
					now = append(now, bytes.Repeat([]byte{0}, missing)...)
				}
				copy(now[off:], b)
				m.bytes[id] = now
			},
			"truncate": func(rt *rapid.T) {
				id, i := file()
				size := rapid.IntRange(0, 4*pageSize).Draw(rt, "size")
				require.Zero(rt, d.truncate(i, int64(size)))
				m.bytes[id] = append(m.bytes[id], bytes.Repeat([]byte{0}, size)...)[:size]
			},
			"reserve": func(rt *rapid.T) {
				_, i := file()
				require.Zero(rt, d.reserve(i, rapid.Int64Range(0, 4*pageSize).Draw(rt, "offset"), 3*pageSize, true))
			},
			"sync file": func(rt *rapid.T) {
				id, i := file()
				require.Zero(rt, d.sync(i))
				m.saved[id] = bytes.Clone(m.bytes[id])
				m.events = append(m.events, event{synced: id, under: m.aboves(id)})
			},
			"sync folder": func(rt *rapid.T) {
				dir := rapid.SampledFrom(dirs()).Draw(rt, "folder")
				require.Zero(rt, d.sync(inodes[dir]))
				m.events = append(m.events, event{synced: dir, under: m.aboves(dir)})
			},
			"crash": func(*rapid.T) {
				m.crash()
				d.Crash()
			},
		})
	})
}

// What was made and is no more takes no place in the journal, which each sync goes through.
func TestNamesThatCameAndWentAreForgotten(t *testing.T) {
	d := New(rand.New(rand.NewPCG(1, 0)))
	for range 100 {
		dir, _ := d.make(d.root, "dir", syscall.S_IFDIR, 0, 0, "")
		d.make(dir, "tmp", syscall.S_IFREG, 0, 0, "")
		require.Zero(t, d.remove(dir, "tmp", false))
		require.Zero(t, d.remove(d.root, "dir", true))
	}
	require.Empty(t, d.pending)
}

// A file that was moved out of a folder is not lost with the folder.
func TestWhatAFolderHeldOutlivesIt(t *testing.T) {
	d := New(rand.New(rand.NewPCG(1, 0)))
	x, _ := d.make(d.root, "x", syscall.S_IFDIR, 0, 0, "")
	y, _ := d.make(d.root, "y", syscall.S_IFDIR, 0, 0, "")
	a, _ := d.make(x, "a", syscall.S_IFREG, 0, 0, "")
	require.Zero(t, d.sync(a))
	require.Zero(t, d.sync(d.root))
	require.Zero(t, d.rename(x, "a", y, "b", 0))
	require.Zero(t, d.remove(d.root, "x", true))
	require.Zero(t, d.sync(d.root))
	d.Crash()
	require.Equal(t, map[string]string{"/y": "folder", "/y/b": ""}, d.tree())
}

// A name that was given to another file keeps the old one until the folder, or the new file, is synced.
func TestARenameThatNothingForces(t *testing.T) {
	for sync, want := range map[string]string{"nothing": "old", "another file": "old", "the file": "new", "the folder": "new"} {
		d := New(rand.New(rand.NewPCG(1, 0)))
		config, _ := d.make(d.root, "config", syscall.S_IFREG, 0, 0, "")
		other, _ := d.make(d.root, "other", syscall.S_IFREG, 0, 0, "")
		require.Zero(t, d.write(config, []byte("old"), 0))
		require.Zero(t, d.sync(config))
		fresh, _ := d.make(d.root, "config.tmp", syscall.S_IFREG, 0, 0, "")
		require.Zero(t, d.write(fresh, []byte("new"), 0))
		require.Zero(t, d.sync(fresh))
		require.Zero(t, d.rename(d.root, "config.tmp", d.root, "config", 0))
		if i := map[string]*inode{"another file": other, "the file": fresh, "the folder": d.root}[sync]; i != nil {
			require.Zero(t, d.sync(i))
		}
		d.Crash()
		require.Equal(t, want, d.tree()["/config"], sync)
	}
}

// A failed sync writes nothing, and the pages that it did not write are not written later.
func TestAFailedSync(t *testing.T) {
	d := New(rand.New(rand.NewPCG(1, 0)))
	i, _ := d.make(d.root, "a", syscall.S_IFREG, 0, 0, "")
	require.Zero(t, d.write(i, []byte("one"), 0))
	require.Zero(t, d.sync(i))
	require.Zero(t, d.write(i, []byte("two"), 0))
	require.Zero(t, d.write(i, []byte("next page"), pageSize))
	d.Set(history.DiskState{SyncErrors: 1})
	require.Equal(t, syscall.EIO, d.sync(i))
	d.Set(history.DiskState{})
	require.Zero(t, d.write(i, []byte("third page"), 2*pageSize))
	require.Zero(t, d.sync(i), "it reports no error that was reported before")
	d.Crash()
	got := d.tree()["/a"]
	require.Len(t, got, 2*pageSize+len("third page"))
	require.Equal(t, "one\x00", got[:4])
	require.Equal(t, "\x00\x00", got[pageSize:pageSize+2])
	require.Equal(t, "third page", got[2*pageSize:])
}

func TestAFullDisk(t *testing.T) {
	d := New(rand.New(rand.NewPCG(1, 0)))
	i, _ := d.make(d.root, "a", syscall.S_IFREG, 0, 0, "")
	require.Zero(t, d.write(i, []byte("one"), 0))
	require.Zero(t, d.reserve(i, 0, 3*pageSize, false))
	d.Set(history.DiskState{Full: true})
	_, err := d.make(d.root, "b", syscall.S_IFREG, 0, 0, "")
	require.Equal(t, syscall.ENOSPC, err)
	require.Equal(t, syscall.ENOSPC, d.write(i, []byte("x"), 3*pageSize))
	require.Zero(t, d.write(i, []byte("two"), 0), "over what was written")
	require.Zero(t, d.write(i, []byte("two"), 2*pageSize), "into room that was allocated")
	require.Zero(t, d.sync(i))
	d.Set(history.DiskState{})
	require.Zero(t, d.write(i, []byte("x"), 3*pageSize))
	require.Equal(t, syscall.ENOSPC, d.reserve(i, 0, diskSize+1, true), "it has an end")
}

// What a file took gives its room back when it is made empty, be it less than a page: to write it anew takes room.
func TestAFileThatIsMadeEmptyTakesNoRoom(t *testing.T) {
	d := New(rand.New(rand.NewPCG(1, 0)))
	i, _ := d.make(d.root, "a", syscall.S_IFREG, 0, 0, "")
	took := d.used
	require.Zero(t, d.write(i, []byte("one"), 0))
	require.Zero(t, d.sync(i))
	require.Zero(t, d.truncate(i, 0))
	require.Equal(t, took, d.used)
	d.Crash()
	require.Equal(t, "one", d.tree()["/a"], "nothing forced it to disk")
	require.Equal(t, took+1, d.used)
	require.Zero(t, d.truncate(i, 0))
	d.Set(history.DiskState{Full: true})
	require.Equal(t, syscall.ENOSPC, d.write(i, []byte("two"), 0))
}

func TestAWipedDisk(t *testing.T) {
	d := New(rand.New(rand.NewPCG(1, 0)))
	i, _ := d.make(d.root, "a", syscall.S_IFREG, 0, 0, "")
	require.Zero(t, d.sync(i))
	for range 2 {
		d.Set(history.DiskState{Wiped: true})
		require.Empty(t, d.tree())
	}
	d.Set(history.DiskState{})
	i, _ = d.make(d.root, "b", syscall.S_IFREG, 0, 0, "")
	require.Zero(t, d.sync(i))
	d.Set(history.DiskState{Full: true})
	d.Crash()
	require.Len(t, d.tree(), 1)
}
