// Files does one thing to files, which its first argument names, and prints what came of it.
package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
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
