package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// grove is what paths are tried in: a folder with files, folders and links, made anew once it was changed.
type grove struct {
	base  string
	made  int
	names map[uint64]string // of files, by number of inode
}

// plant makes another such folder, and goes there.
func (g *grove) plant() {
	g.made++
	here := filepath.Join(g.base, strconv.Itoa(g.made))
	check(os.MkdirAll(here+"/d/sub", 0o755))
	check(os.Chdir(here))
	check(os.Mkdir("e", 0o755))
	for _, file := range []string{"f", "d/f", "d/sub/f"} {
		check(os.WriteFile(file, []byte("in "+file), 0o644))
	}
	links := [][2]string{
		{"ld", "d"}, {"lds", "d/"}, {"lsub", "d/sub"}, {"le", "e"}, {"lf", "f"}, {"lfs", "f/"}, {"lnone", "none"}, {"lnones", "none/"},
		{"lin", "d/none"}, {"lfar", "none/none"}, {"lup", ".."}, {"ldup", "d/.."}, {"ldot", "."}, {"lld", "ld"}, {"llf", "lf"}, {"llnone", "lnone"},
		{"ad", here + "/d"}, {"af", here + "/d/f"}, {"anone", here + "/none"}, {"aslash", here + "//d/"}, {"aup", here + "/lsub/.."},
		{"d/back", "../ld"}, {"d/sub/out", "../../lsub"}, {"loop", "loop"}, {"this", "that"}, {"that", "this"}, {"lloop", "loop/f"}, {"lff", "f/f"},
	}
	for _, l := range links {
		check(os.Symlink(l[1], l[0]))
	}
	g.names = map[uint64]string{}
	check(filepath.Walk(".", func(path string, info fs.FileInfo, err error) error {
		check(err)
		if ino := info.Sys().(*syscall.Stat_t).Ino; g.names[ino] == "" {
			g.names[ino] = path
		}
		return nil
	}))
}

// chain makes links of which each leads to the one before, beside the folders: the kernel follows forty.
func (g *grove) chain() {
	check(os.MkdirAll(g.base, 0o755))
	check(os.Symlink("1/d", g.base+"/c1"))
	for i := range 40 {
		check(os.Symlink(fmt.Sprint("c", i+1), fmt.Sprint(g.base, "/c", i+2)))
	}
}

// told is what a file is said to be.
func (g *grove) told(ino uint64, mode uint32, size int64, links uint64) string {
	name := g.names[ino]
	if name == "" {
		name = "another"
	}
	if mode&unix.S_IFMT == unix.S_IFDIR {
		return fmt.Sprintf("%s %o", name, mode)
	}
	return fmt.Sprintf("%s %o, %d bytes, %d names", name, mode, size, links)
}

// state is all that there is.
func (g *grove) state() string {
	var b strings.Builder
	check(filepath.Walk(".", func(path string, info fs.FileInfo, err error) error {
		check(err)
		text := ""
		if info.Mode().Type() == fs.ModeSymlink {
			text, err = os.Readlink(path)
		}
		st := info.Sys().(*syscall.Stat_t)
		fmt.Fprintf(&b, " [%s: %s %s]", path, g.told(st.Ino, st.Mode, st.Size, uint64(st.Nlink)), text)
		return err
	}))
	return b.String()
}

// call is a system call of a path, and maybe of another one. It returns what else than an error comes of it, if something does.
type call struct {
	name    string
	changes bool // what is there
	do      func(g *grove, p, q string) (string, error)
}

func calls() []call {
	opens := func(name string, flags int) call {
		return call{"open " + name, flags&(unix.O_CREAT|unix.O_TRUNC) != 0, func(g *grove, p, _ string) (string, error) {
			fd, err := unix.Open(p, flags, 0o640)
			if err != nil {
				return "", err
			}
			defer unix.Close(fd)
			var st unix.Stat_t
			check(unix.Fstat(fd, &st))
			return g.told(st.Ino, st.Mode, st.Size, uint64(st.Nlink)), nil
		}}
	}
	changes := func(name string, do func(p, q string) error) call {
		return call{name, true, func(_ *grove, p, q string) (string, error) { return "", do(p, q) }}
	}
	looks := func(name string, do func(p string, st *unix.Stat_t) error) call {
		return call{name, false, func(g *grove, p, _ string) (string, error) {
			var st unix.Stat_t
			if err := do(p, &st); err != nil {
				return "", err
			}
			return g.told(st.Ino, st.Mode, st.Size, uint64(st.Nlink)), nil
		}}
	}
	renames := func(name string, flags uint) call {
		return changes(name, func(p, q string) error { return unix.Renameat2(unix.AT_FDCWD, p, unix.AT_FDCWD, q, flags) })
	}
	return []call{
		opens("r", unix.O_RDONLY),
		opens("rw", unix.O_RDWR),
		opens("cut", unix.O_WRONLY|unix.O_TRUNC),
		opens("creat", unix.O_WRONLY|unix.O_CREAT),
		opens("creat cut", unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC),
		opens("creat excl", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL),
		opens("creat nofollow", unix.O_WRONLY|unix.O_CREAT|unix.O_NOFOLLOW),
		opens("directory", unix.O_RDONLY|unix.O_DIRECTORY),
		opens("nofollow", unix.O_RDONLY|unix.O_NOFOLLOW),
		opens("directory nofollow", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW),
		opens("path", unix.O_PATH),
		opens("path nofollow", unix.O_PATH|unix.O_NOFOLLOW),
		looks("stat", unix.Stat),
		looks("lstat", unix.Lstat),
		looks("stat from d", func(p string, st *unix.Stat_t) error {
			fd, err := unix.Open("d", unix.O_RDONLY, 0)
			check(err)
			defer unix.Close(fd)
			return unix.Fstatat(fd, p, st, 0)
		}),
		looks("stat from f", func(p string, st *unix.Stat_t) error {
			fd, err := unix.Open("f", unix.O_RDONLY, 0)
			check(err)
			defer unix.Close(fd)
			return unix.Fstatat(fd, p, st, unix.AT_SYMLINK_NOFOLLOW)
		}),
		looks("stat from what is open", func(p string, st *unix.Stat_t) error {
			fd, err := unix.Open(p, unix.O_PATH|unix.O_NOFOLLOW, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Fstatat(fd, "f", st, 0)
		}),
		{"readlink", false, func(_ *grove, p, _ string) (string, error) {
			b := make([]byte, 4096)
			n, err := unix.Readlink(p, b)
			return string(b[:max(n, 0)]), err
		}},
		{"chdir", false, func(g *grove, p, _ string) (string, error) {
			if err := unix.Chdir(p); err != nil {
				return "", err
			}
			dir, err := unix.Getwd()
			check(err)
			check(unix.Chdir(filepath.Join(g.base, strconv.Itoa(g.made))))
			return dir, nil
		}},
		{"access", false, func(_ *grove, p, _ string) (string, error) { return "", unix.Access(p, unix.R_OK) }},
		changes("chmod", func(p, _ string) error { return unix.Chmod(p, 0o750) }),
		changes("chmod nofollow", func(p, _ string) error { return unix.Fchmodat(unix.AT_FDCWD, p, 0o750, unix.AT_SYMLINK_NOFOLLOW) }),
		changes("truncate", func(p, _ string) error { return unix.Truncate(p, 2) }),
		changes("mkdir", func(p, _ string) error { return unix.Mkdir(p, 0o750) }),
		changes("rmdir", func(p, _ string) error { return unix.Rmdir(p) }),
		changes("unlink", func(p, _ string) error { return unix.Unlink(p) }),
		changes("symlink", func(p, _ string) error { return unix.Symlink("d", p) }),
		changes("link to", func(p, q string) error { return unix.Link(p, q) }),
		changes("link follow to", func(p, q string) error {
			return unix.Linkat(unix.AT_FDCWD, p, unix.AT_FDCWD, q, unix.AT_SYMLINK_FOLLOW)
		}),
		renames("rename to", 0),
		renames("rename noreplace to", unix.RENAME_NOREPLACE),
		renames("rename exchange", unix.RENAME_EXCHANGE),
	}
}

// named are paths that somebody has thought of.
func named() []string {
	all := []string{"", "/", "//", "/.", "/..", "/../..", ".", "..", "./", "../", "./.", "../c40", "../c41", "../c40/f", "../c41/f", "../c39/back/f", "../c38/back/f", "../c37/back/sub/..", "none/", "new/", "new//", "new/.", "new/..",
		strings.Repeat("x", 256), strings.Repeat("x", 256) + "/", strings.Repeat("./", 2040) + "f", strings.Repeat("./", 2050) + "f"}
	for _, name := range []string{"f", "d", "e", "d/sub", "ld", "lds", "le", "lf", "lfs", "lnone", "lnones", "lin", "lfar", "lup", "ldup", "ldot", "lld", "llf", "llnone", "lsub",
		"ad", "af", "anone", "aslash", "aup", "loop", "this", "lloop", "lff", "d/back", "d/sub/out"} {
		for _, end := range []string{"", "/", "/.", "/..", "/../", "/f", "/../f", "/none/", "//sub//../back/f"} {
			all = append(all, name+end)
		}
	}
	return all
}

// drawn puts a path together.
func (g *grove) drawn(rnd *rand.Rand) string {
	parts := []string{"f", "d", "sub", "e", "ld", "lds", "lsub", "le", "lf", "lfs", "lnone", "lnones", "lin", "lfar", "lup", "ldup", "ldot", "lld", "llf", "llnone",
		"ad", "af", "anone", "aslash", "aup", "back", "out", "loop", "this", "lloop", "none", "new", ".", "..", "..", "..", "f", "sub", "back"}
	var b strings.Builder
	if rnd.IntN(5) == 0 {
		b.WriteString(filepath.Join(g.base, "1") + "/")
	}
	for i := range 1 + rnd.IntN(5) {
		if i > 0 {
			b.WriteString(strings.Repeat("/", 1+rnd.IntN(8)/7))
		}
		b.WriteString(parts[rnd.IntN(len(parts))])
	}
	if rnd.IntN(3) == 0 {
		b.WriteString([]string{"/", "//", "/.", "/.."}[rnd.IntN(4)])
	}
	return b.String()
}

// paths makes each call with each of many paths below a folder, and prints what came of it.
func paths(folder, seed string) {
	n, err := strconv.ParseUint(seed, 10, 64)
	check(err)
	unix.Umask(0o22)
	rnd := rand.New(rand.NewPCG(n, 0))
	g := &grove{base: filepath.Join(folder, "so/deep/that/nothing/leads/above/it")}
	g.chain()
	g.plant()
	all := named()
	for range 200 {
		all = append(all, g.drawn(rnd))
	}
	for _, p := range all {
		q := "new"
		if rnd.IntN(2) == 0 {
			q = all[rnd.IntN(len(all))]
		}
		for _, c := range calls() {
			if strings.Trim(p, "/.") == "" && strings.Contains(c.name, "chmod") { // it may not be the grove's
				continue
			}
			what, err := c.do(g, p, q)
			for tries := 0; tries < 9 && errors.Is(err, syscall.ELOOP); tries++ {
				// A kernel that has to begin a walk again, for what others do to files meanwhile, counts the links that it had followed twice.
				what, err = c.do(g, p, q)
			}
			line := fmt.Sprintf("%s %.60s %.60s: %s %v", c.name, p, q, what, err)
			if c.changes && err == nil {
				line += g.state()
				g.plant()
			}
			fmt.Println(line)
		}
	}
	fmt.Println("done")
}

// devices tries to change those that a node is given: the machine's. It goes no further than to the first that it can.
func devices() {
	for _, path := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/../dev/random"} {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		check(err)
		st, err := os.Stat(path)
		check(err)
		for _, try := range []func() error{
			func() error { return os.Chmod(path, st.Mode()) },
			func() error { return unix.Fchmod(int(f.Fd()), uint32(st.Mode().Perm())) },
			func() error { return unix.Fchmod(0, 0o666) },
			func() error { return os.Chtimes(path, st.ModTime(), st.ModTime()) },
			func() error { return os.Link(path, "/data/same") },
			func() error { return os.Rename("/data/none", path) },
			func() error { return os.Rename(path, "/data/moved") },
			func() error { return os.Remove(path) },
		} {
			err := try()
			fmt.Println(path, cause(err))
			if err == nil {
				return
			}
		}
	}
	f, err := os.OpenFile("/dev/null", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	check(err)
	n, err := f.WriteString("nothing")
	fmt.Println(n, err, cause(f.Sync()))
	check(os.Symlink("/dev/zero", "/data/zero"))
	zero, err := os.Open("/data/zero")
	check(err)
	n, err = zero.Read(make([]byte, 5))
	fmt.Println(n, err)
	for _, path := range []string{"/etc/hosts", "/dev/urandom", "/etc/../etc//hosts"} {
		_, err := os.Stat(path)
		fmt.Println(cause(err), unix.Access(path, unix.R_OK))
	}
}

// folders moves and removes the folder that it is in.
func folders() {
	check(os.MkdirAll("/data/old/in", 0o755))
	check(os.Chdir("/data/old/in"))
	check(os.Rename("/data/old", "/data/new"))
	check(os.WriteFile("file", []byte("found"), 0o644))
	list("/data")
	dir, err := unix.Getwd()
	fmt.Println(dir, err)
	check(os.Remove("file"))
	check(os.Remove("/data/new/in"))
	dir, err = unix.Getwd()
	fmt.Println(dir, err)
	fmt.Println(cause(os.WriteFile("file", nil, 0o644)))
}

// beyond makes calls by which paths of the machine could be reached that lead nowhere in a node.
func beyond() {
	_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, "/", 0)
	fmt.Println(err)
	_, err = unix.OpenTree(unix.AT_FDCWD, "/", 0)
	fmt.Println(err)
	err = unix.MoveMount(unix.AT_FDCWD, "/none", unix.AT_FDCWD, "/none", 0)
	fmt.Println(err)
	fmt.Println(unix.Unmount("/none", 0))
}
