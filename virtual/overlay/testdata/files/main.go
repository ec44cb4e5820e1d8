// Files does one thing to files, which its first argument names, and prints what came of it.
package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	switch os.Args[1] {
	case "changes":
		check(os.MkdirAll("/data/sub", 0o755))
		f, err := os.Create("/data/new")
		check(err)
		f.Write([]byte("hello"))
		f.WriteAt([]byte("J"), 0)
		check(f.Sync())
		f.Close()
		check(os.Rename("/data/new", "/data/sub/final"))
		dir, err := os.Open("/data/sub")
		check(err)
		check(dir.Sync())
		f, err = os.OpenFile("data/sub/final", os.O_WRONLY|os.O_APPEND, 0)
		check(err)
		f.Write([]byte("!"))
		check(f.Truncate(3))
		check(os.Remove("/data/sub/final"))
		f.Write([]byte("nobody sees this"))
		_, err = os.ReadFile("/etc/passwd")
		fmt.Println(errors.Is(err, os.ErrNotExist))
	case "order":
		for _, name := range []string{"c", "a", "d", "b"} {
			check(os.WriteFile("/"+name, []byte(name), 0o644))
			time.Sleep(time.Second)
		}
		d, err := os.Open("/")
		check(err)
		names, err := d.Readdirnames(-1)
		fmt.Println(names, err)
		st, err := os.Stat("/a")
		check(err)
		fmt.Println(st.ModTime().UTC(), st.Size(), st.Mode())
		var fs syscall.Statfs_t
		check(syscall.Statfs("/", &fs))
		fmt.Println(fs.Bavail)
	case "times": // of the last change of files, after each kind of change
		f, err := os.Create("/a")
		check(err)
		changes := []struct {
			name string
			do   func() error
		}{
			{"write", func() error { _, err := f.Write([]byte("hello")); return err }},
			{"truncate", func() error { return os.Truncate("/a", 2) }},
			{"ftruncate", func() error { return f.Truncate(3) }},
			{"fallocate", func() error { return unix.Fallocate(int(f.Fd()), 0, 0, 8192) }},
			{"now", func() error { return unix.UtimesNanoAt(unix.AT_FDCWD, "/a", nil, 0) }},
			{"now, named", func() error {
				return unix.UtimesNanoAt(unix.AT_FDCWD, "/a", []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_NOW}}, 0)
			}},
			{"set", func() error { return os.Chtimes("/a", time.Time{}, time.Unix(1, 2)) }},
			{"left", func() error { return os.Chtimes("/a", time.Unix(3, 4), time.Time{}) }},
			{"through memory", func() error { return throughMemory(f) }},
			{"write after that", func() error { _, err := f.Write([]byte("x")); return err }},
			{"through memory again", func() error { return throughMemory(f) }},
			{"sync", f.Sync},
			{"rename", func() error { return os.Rename("/a", "/b") }},
		}
		for _, c := range changes {
			time.Sleep(time.Second)
			err := c.do()
			st, serr := f.Stat()
			check(serr)
			fmt.Println(c.name, err, st.ModTime().UTC())
		}
		for _, name := range []string{"/b", "/placed", "/"} {
			st, err := os.Stat(name)
			check(err)
			fmt.Println(name, st.ModTime().UTC())
		}
	case "numbers": // of files
		check(os.Mkdir("/sub", 0o755))
		var open []*os.File
		for _, name := range []string{"/c", "/a", "/sub/d"} {
			f, err := os.Create(name)
			check(err)
			open = append(open, f)
		}
		check(os.Symlink("c", "/link"))
		check(os.Link("/c", "/sub/hard"))
		fmt.Println("/a", number("/a"), "/c", number("/c"), "/sub/hard", number("/sub/hard"), "/link", number("/link"))
		check(os.Rename("/a", "/sub/renamed"))
		check(os.Remove("/c"))
		fmt.Println("/sub/renamed", number("/sub/renamed"))
		for _, f := range open {
			st, err := f.Stat()
			check(err)
			fmt.Println("open", f.Name(), st.Sys().(*syscall.Stat_t).Ino)
		}
		entries("/")
		entries("/sub")
		fmt.Println("/", number("/"), "/sub", number("/sub"), "/dev/null", number("/dev/null"))
		null, err := os.Stat("/dev/null")
		check(err)
		fmt.Println(null.ModTime().UTC())
	case "numbers again": // of the next process
		fmt.Println("/sub/renamed", number("/sub/renamed"), "/sub/hard", number("/sub/hard"), "/sub/d", number("/sub/d"))
		check(os.WriteFile("/new", nil, 0o644))
		fmt.Println("/new", number("/new"))
	case "sick": // prints how each write and sync ends, one a second
		f, err := os.Create("/log")
		check(err)
		for range 5 {
			began := time.Now()
			_, werr := f.Write([]byte("x"))
			serr := f.Sync()
			fmt.Println(cause(werr), cause(serr), time.Since(began))
			time.Sleep(time.Second)
		}
	case "row": // writes forever
		f, err := os.Create("/log")
		check(err)
		for i := 0; ; i++ {
			fmt.Fprintf(f, "line %d\n", i)
			if i%3 == 2 {
				check(f.Sync())
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// throughMemory writes to the file as to memory.
func throughMemory(f *os.File) error {
	p, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err == nil {
		p[0]++
	}
	return err
}

func number(path string) uint64 {
	var st syscall.Stat_t
	check(syscall.Lstat(path, &st))
	return st.Ino
}

// entries prints the numbers of what is in a folder, as the folder has them.
func entries(path string) {
	dir, err := os.Open(path)
	check(err)
	b := make([]byte, 4096)
	n, err := syscall.ReadDirent(int(dir.Fd()), b)
	check(err)
	fmt.Print("in ", path)
	for b = b[:n]; len(b) > 0; {
		d := (*syscall.Dirent)(unsafe.Pointer(&b[0]))
		fmt.Print(" ", unix.ByteSliceToString(b[unsafe.Offsetof(d.Name):d.Reclen]), "=", d.Ino)
		b = b[d.Reclen:]
	}
	fmt.Println()
}

func cause(err error) any {
	var e syscall.Errno
	if errors.As(err, &e) {
		return e
	}
	return err
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
