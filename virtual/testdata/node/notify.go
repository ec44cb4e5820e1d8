package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watcher prints what inotify tells of the folder that it is in.
type watcher struct {
	fd      int
	names   map[int32]string // of what is watched
	cookies map[uint32]int
}

func (w *watcher) watch(path string, mask uint32) {
	wd, err := unix.InotifyAddWatch(w.fd, path, mask)
	fmt.Println("watch", path, wd, cause(err))
	if err == nil {
		w.names[int32(wd)] = path
	}
}

func (w *watcher) did(what string, err error) {
	fmt.Println(what, cause(err))
	b := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, b)
		if err != nil {
			if err != unix.EAGAIN {
				fmt.Println(err)
			}
			return
		}
		for k := 0; k < n; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&b[k]))
			k += unix.SizeofInotifyEvent
			name := strings.TrimRight(string(b[k:k+int(e.Len)]), "\x00")
			k += int(e.Len)
			if e.Cookie != 0 && w.cookies[e.Cookie] == 0 {
				w.cookies[e.Cookie] = len(w.cookies) + 1 // counted anew: the kernel counts for everybody
			}
			fmt.Printf("  %s %q %#x %d %d\n", w.names[e.Wd], name, e.Mask, w.cookies[e.Cookie], e.Len)
		}
	}
}

func notify(base string) {
	check(os.MkdirAll(base, 0o755))
	check(os.Chdir(base))
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	check(err)
	w := &watcher{fd, map[int32]string{}, map[uint32]int{}}
	check(os.MkdirAll("d/sub", 0o755))
	check(os.WriteFile("d/f", []byte("f"), 0o644))
	check(os.WriteFile("d/short", nil, 0o644))
	check(os.Symlink("d", "l"))
	w.watch("none", unix.IN_ALL_EVENTS)
	w.watch("d", unix.IN_ALL_EVENTS)
	w.watch("l", unix.IN_ALL_EVENTS) // the same
	w.watch("d/f", unix.IN_ALL_EVENTS)
	w.watch("d/f", unix.IN_ALL_EVENTS|unix.IN_ONLYDIR)
	w.watch("d/f", unix.IN_ALL_EVENTS|unix.IN_MASK_CREATE)
	w.watch("d/sub", unix.IN_CREATE)
	w.watch("d/sub", unix.IN_DELETE|unix.IN_MASK_ADD)
	w.watch("d/short", unix.IN_MODIFY|unix.IN_ONESHOT)
	w.watch("d", 0)

	f, err := os.Create("d/new")
	w.did("create", err)
	_, err = f.WriteString("one")
	w.did("write", err)
	_, err = f.WriteString("two")
	_, err2 := f.WriteString("three")
	w.did("write twice", err)
	check(err2)
	w.did("truncate", f.Truncate(1))
	w.did("truncate by name", os.Truncate("d/new", 2))
	w.did("fchmod", f.Chmod(0o600))
	w.did("chmod", os.Chmod("d/f", 0o600))
	w.did("times", os.Chtimes("d/f", time.Unix(1, 0), time.Unix(2, 0)))
	w.did("close", f.Close())
	b, err := os.ReadFile("d/f")
	w.did("read "+string(b), err)
	w.did("create again", os.WriteFile("d/f", []byte("g"), 0o644))
	w.did("one shot", os.WriteFile("d/short", []byte("g"), 0o644))
	w.did("one shot, over", os.WriteFile("d/short", []byte("g"), 0o644))
	w.did("mkdir", os.Mkdir("d/sub/deep", 0o755))
	w.did("mkdir", os.Mkdir("d/other", 0o755))
	w.did("rmdir", os.Remove("d/sub/deep"))
	w.did("symlink", os.Symlink("f", "d/link"))
	w.did("link", os.Link("d/f", "d/hard"))
	w.did("remove a link", os.Remove("d/link"))
	w.did("mkfile in sub", os.WriteFile("d/sub/x", nil, 0o644))
	w.did("rename", os.Rename("d/new", "d/newer"))
	w.did("rename out", os.Rename("d/newer", "out"))
	w.did("rename in", os.Rename("out", "d/in"))
	w.did("rename of a folder", os.Rename("d/sub", "d/below"))
	w.did("in what was renamed", os.WriteFile("d/below/y", nil, 0o644))
	w.watch("d/in", unix.IN_ALL_EVENTS)
	w.did("over another", os.Rename("d/short", "d/in"))
	w.did("exchange", unix.Renameat2(unix.AT_FDCWD, "d/in", unix.AT_FDCWD, "d/below", unix.RENAME_EXCHANGE))
	w.watch("d/held", unix.IN_ALL_EVENTS)
	check(os.WriteFile("d/held", []byte("held"), 0o644))
	w.did("held", nil)
	w.watch("d/held", unix.IN_ALL_EVENTS)
	f, err = os.Open("d/held")
	w.did("open", err)
	w.did("remove what is open", os.Remove("d/held"))
	w.did("close what was removed", f.Close())
	check(os.WriteFile("d/watched", nil, 0o644))
	w.watch("d/watched", unix.IN_ALL_EVENTS)
	w.did("watched", nil)
	w.did("remove what is watched", os.Remove("d/watched"))
	entries, err := os.ReadDir("d/other")
	w.did(fmt.Sprint("list ", len(entries)), err)
	w.watch("d/other", unix.IN_ALL_EVENTS)
	w.did("remove a folder", os.Remove("d/other"))
	var wd int32
	for id, name := range w.names {
		if name == "d/f" {
			wd = id
		}
	}
	_, err = unix.InotifyRmWatch(w.fd, uint32(wd))
	w.did("unwatch", err)
	_, err = unix.InotifyRmWatch(w.fd, uint32(wd))
	w.did("unwatch again", err)
	_, err = unix.InotifyAddWatch(0, "d", unix.IN_CREATE)
	fmt.Println(err == unix.EINVAL || err == unix.EBADF)
	_, err = unix.Read(w.fd, make([]byte, 4))
	fmt.Println("nothing there", err)
	check(os.WriteFile("d/last", nil, 0o644))
	_, err = unix.Read(w.fd, make([]byte, 4))
	fmt.Println("no room", err)
	check(syscall.Close(w.fd))

	// who waits for an event is woken by it
	fd, err = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	check(err)
	_, err = unix.InotifyAddWatch(fd, ".", unix.IN_CREATE)
	check(err)
	watch := os.NewFile(uintptr(fd), "")
	go func() {
		time.Sleep(10 * time.Millisecond)
		check(os.WriteFile("awaited", nil, 0o644))
	}()
	n, err := watch.Read(make([]byte, 4096))
	fmt.Println("woken", n, err)
}
