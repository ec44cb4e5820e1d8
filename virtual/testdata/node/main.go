// Node is a server's disk and network at work: it does one thing, which its first argument names, and prints what came of it.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	switch os.Args[1] {
	case "list":
		list("/data")
	case "where": // it begins, and what is there
		dir, err := os.Getwd()
		fmt.Println(dir, err)
		create("own", "one")
		list("/work")
	case "environment":
		for _, name := range []string{"HOME", "HOSTNAME", "PATH", "OF_ITS_OWN"} {
			fmt.Println(name, os.Getenv(name))
		}
	case "links":
		f := create("/data/first", "one ")
		check(os.Link("/data/first", "/data/second"))
		check(os.Remove("/data/first"))
		add(f, "two ")
		check(os.Rename("/data/second", "/data/third"))
		add(f, "three ")
		other := create("/data/other", "gone")
		check(os.Link("/data/third", "/data/fourth"))
		check(os.Rename("/data/third", "/data/fourth")) // of the same file: nothing happens
		check(os.Rename("/data/other", "/data/fourth"))
		add(other, " and over")
		add(f, "four")
		sync("/data")
		list("/data")
	case "exchange":
		x, y := create("/data/x", "old"), create("/data/y", "new")
		check(os.Mkdir("/data/full", 0o755))
		create("/data/full/inside", "in")
		check(os.Mkdir("/data/empty", 0o755))
		sync("/data")
		check(unix.Renameat2(unix.AT_FDCWD, "/data/x", unix.AT_FDCWD, "/data/y", unix.RENAME_EXCHANGE))
		check(unix.Renameat2(unix.AT_FDCWD, "/data/full", unix.AT_FDCWD, "/data/empty", unix.RENAME_EXCHANGE))
		fmt.Println(unix.Renameat2(unix.AT_FDCWD, "/data/x", unix.AT_FDCWD, "/data/none", unix.RENAME_EXCHANGE))
		fmt.Println(unix.Renameat2(unix.AT_FDCWD, "/data/x", unix.AT_FDCWD, "/data/y", unix.RENAME_NOREPLACE))
		if os.Args[2] == "synced" {
			sync("/data")
			add(x, "er")
			add(y, "er")
		}
		list("/data")
	case "failed-sync": // once a second: a page of its own each
		f := create("/data/log", "page 0")
		for i := 1; i <= 3; i++ {
			time.Sleep(time.Second)
			_, err := f.WriteAt(fmt.Appendf(nil, "page %d", i), int64(i)<<12)
			check(err)
			fmt.Println("sync", i, cause(f.Sync()))
		}
		list("/data")
	case "amid-syncs": // what is done half a millisecond after a sync has begun
		amid := func(synced func(), does func()) {
			done := make(chan time.Duration)
			go func() {
				time.Sleep(500 * time.Microsecond)
				began := time.Now()
				does()
				done <- time.Since(began)
			}()
			synced()
			fmt.Println("it took", <-done)
		}
		f := create("/data/log", "one ")
		_, err := f.WriteString("two ")
		check(err)
		write := func() {
			g, err := os.OpenFile("/data/log", os.O_WRONLY|os.O_APPEND, 0)
			check(err)
			_, err = g.WriteString("three ")
			check(err)
		}
		if os.Args[2] == "all" {
			amid(syscall.Sync, write)
			break
		}
		amid(func() { check(f.Sync()) }, write)
		other := create("/data/other", "one ")
		amid(func() { check(other.Sync()) }, func() { check(f.Truncate(3)) })
		check(os.Mkdir("/data/folder", 0o755))
		amid(func() { sync("/data") }, func() { check(os.Rename("/data/other", "/data/renamed")) })
		amid(func() { sync("/data/folder") }, func() {
			_, err := os.Create("/data/folder/new")
			check(err)
		})
		fmt.Println(unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WAIT_AFTER))
	case "by-link":
		check(os.Mkdir("/data/wal-1", 0o755))
		check(os.Symlink("wal-1", "/data/wal"))
		create("/data/wal/log", "through")
		sync("/data")
		sync("/data/wal")
	case "outside": // of its own folders: its second argument is one of the machine
		machine := os.Args[2]
		check(os.Symlink(machine, "/data/absolute"))
		check(os.Symlink(strings.Repeat("../", 40)+machine[1:], "/data/relative"))
		for _, link := range []string{"/data/absolute", "/data/relative"} {
			_, err := os.ReadFile(link + "/secret")
			fmt.Println(cause(err))
			fmt.Println(cause(os.WriteFile(link+"/more", nil, 0o644)))
			fmt.Println(cause(os.Mkdir(link+"/folder", 0o755)))
			fmt.Println(cause(os.Remove(link + "/secret")))
			fmt.Println(cause(os.Chdir(link)))
			_, err = net.Listen("unix", link+"/socket")
			fmt.Println(err != nil)
		}
		fmt.Println(cause(os.Symlink(machine, "/proc"))) // the node has none, nor can it make one
		fmt.Println(cause(os.Truncate("/proc/secret", 3)))
		fmt.Println(cause(os.Chdir("/proc")))
		_, err := net.Listen("unix", "/proc/socket")
		fmt.Println(err != nil)
		fmt.Println(unix.Fchmodat(unix.AT_FDCWD, machine+"/secret", 0o600, unix.AT_SYMLINK_NOFOLLOW))
		fmt.Println(unix.Lsetxattr(machine+"/secret", "user.kept", []byte("no"), 0))
		check(os.MkdirAll(machine, 0o755)) // what the links lead to is the node's own
		check(os.WriteFile(machine+"/own", []byte("own"), 0o644))
		text, err := os.ReadFile("/data/absolute/own")
		fmt.Println(string(text), err)
		text, err = os.ReadFile("/data/relative/own")
		fmt.Println(string(text), err)
		is, err := os.Readlink("/data/absolute")
		fmt.Println(is == machine, err)
		check(os.Symlink("/data/loop", "/data/loop"))
		_, err = os.Stat("/data/loop")
		fmt.Println(cause(err))
		check(os.Mkdir("/data/wal-1", 0o755))
		check(os.Symlink("/data/wal-1", "/data/wal"))
		create("/data/wal/log", "through")
		sync("/data/wal")
		sync("/data")
	case "log": // to a file, which it renames and begins again; then it lives on
		f, err := os.OpenFile("/data/log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		check(err)
		add(f, "begins\n")
		_, err = f.WriteString("is not ")
		check(err)
		time.Sleep(time.Second)
		_, err = f.WriteString("synced\n")
		check(err)
		check(os.Rename("/data/log", "/data/log.1"))
		create("/data/log", "begins\n")
		fmt.Println("printed")
		select {}
	case "endless-line":
		fmt.Print(strings.Repeat("x", 5<<19))
	case "removed-folder":
		check(os.Mkdir("/data/folder", 0o755))
		dir, err := os.Open("/data/folder")
		check(err)
		check(os.Remove("/data/folder"))
		_, err = unix.Openat(int(dir.Fd()), "file", unix.O_CREAT|unix.O_RDWR, 0o644)
		fmt.Println(err)
	case "holes":
		f := create("/data/file", "full")
		fmt.Println(cause(syscall.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 4)))
		fmt.Println(cause(syscall.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, 1<<20)))
		list("/data")
	case "mapped":
		mapped(os.Args[2])
	case "synced":
		f, err := os.OpenFile("/data/file", os.O_RDWR, 0)
		check(errors.Join(err, f.Sync()))
	case "sleepers":
		done := make(chan bool)
		for range 3 {
			go sleeper(done)
		}
		<-done
	case "paths": // until it has an end: the same program is run by the kernel alone, too
		paths(os.Args[2], os.Args[3])
		if len(os.Args) > 4 {
			return
		}
	case "notify": // as paths
		notify(os.Args[2])
		if len(os.Args) > 3 {
			return
		}
	case "unix":
		unixSockets()
		if len(os.Args) > 2 {
			return
		}
		select {}
	case "epoll":
		epoll()
		if len(os.Args) > 2 {
			return
		}
	case "handlers":
		handlers()
	case "devices":
		devices()
	case "beyond":
		beyond()
	case "folders":
		folders()
	default:
		network(os.Args[1:])
	}
	select {} // it goes on running
}

// mapped writes a file through memory, syncs it in some way, and writes on.
func mapped(how string) {
	const size = 5 * 4096
	f := create("/data/file", "--------------")
	sync("/data")
	check(errors.Join(f.Truncate(size), f.Sync()))
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	check(err)
	copy(b, "synced")
	copy(b[3*4096:], " and far")
	switch how {
	case "memory":
		check(f.Close())
		check(unix.Msync(b, unix.MS_SYNC))
	case "file":
		other, err := os.Open("/data/file")
		check(errors.Join(err, other.Sync()))
	case "everything":
		syscall.Sync()
	case "given-back":
		check(unix.Munmap(b))
		check(f.Sync())
		return
	case "moved":
		b, err = unix.Mremap(b, 2*size, unix.MREMAP_MAYMOVE)
		check(errors.Join(err, unix.Msync(b, unix.MS_SYNC)))
	case "written":
		_, err := f.WriteAt([]byte("over"), 8)
		check(errors.Join(err, f.Sync()))
	case "shorter":
		check(f.Truncate(4))
		check(f.Truncate(size))
		copy(b[3*4096:], " and far")
		check(f.Sync())
	}
	copy(b[6:], ", and not")
}

func sleeper(done chan bool) {
	time.Sleep(time.Hour)
	done <- true
}

// create makes a file that is on disk.
func create(path, text string) *os.File {
	f, err := os.Create(path)
	check(err)
	add(f, text)
	return f
}

// add puts more into a file, and that on disk.
func add(f *os.File, text string) {
	_, err := f.WriteString(text)
	check(errors.Join(err, f.Sync()))
}

func sync(folder string) {
	f, err := os.Open(folder)
	check(err)
	check(errors.Join(f.Sync(), f.Close()))
}

// list prints all files below a folder, pages of zeros left out.
func list(folder string) {
	check(filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Printf("%s: %s\n", path, bytes.ReplaceAll(b, []byte{0}, nil))
		return err
	}))
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
