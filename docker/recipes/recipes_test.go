package recipes

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
)

// A system like others: pinned, left to the toolchain, of packages, and of a main package of its own.
func init() {
	Register(System{
		Name: "etcd", Versions: "3.4.23, and all of 3.6",
		Recipe: func(version string) Recipe {
			switch {
			case version == "3.4.23":
				return Debian{
					Packages: []string{"etcd-server=3.4.23*", "libc6"}, Drop: []string{"etc", "usr/share"},
					Lacks: "version 3.4.23 needs apt-get; 3.4.15 is built with Go",
				}
			case version == "3.6.16":
				return GoMain{Main: "package main", Mod: "module etcd", Sum: "pinned", Path: "usr/bin/etcd"}
			case regexp.MustCompile(`^3\.6\.[0-9]+$`).MatchString(version):
				return GoMain{Main: "package main", Mod: "module etcd", Path: "usr/bin/etcd"}
			}
			return nil
		},
		Published: func(version string) Upstream {
			if !strings.HasPrefix(version, "3.") {
				return Upstream{}
			}
			return Upstream{"registry.example/etcd:v" + version, map[string]string{"/usr/local/bin/etcd": "usr/bin/etcd"}}
		},
	})
	Register(System{
		Name: "own", Versions: "all",
		Recipe: func(version string) Recipe {
			return GoMain{Mod: "module own", Pkg: "example.com/own", Path: "usr/bin/own"}
		},
	})
}

func etcdImage(version string) election.Image {
	return election.Image{Recipe: "etcd", Version: version}
}

func TestRef(t *testing.T) {
	image := regexp.MustCompile(`^recount/[a-z0-9]+:[a-z0-9.-]+-[0-9a-f]{12}$`)
	seen := map[string]string{}
	for _, version := range []string{"3.4.15", "3.4.23", "3.5.0", "3.5.13", "3.6.16", "3.7.3", "no/such:version\n"} {
		ref := Ref(etcdImage(version))
		require.Regexp(t, image, ref)
		require.Equal(t, ref, Ref(etcdImage(version)))
		require.Empty(t, seen[ref], "%s has the name of another image", version)
		seen[ref] = version
	}
	require.True(t, strings.HasPrefix(Ref(etcdImage("3.6.16")), "recount/etcd:3.6.16-"))
}

// What decides an image is in its name: each part of a recipe changes it.
func TestContent(t *testing.T) {
	g := GoMain{Main: "a", Mod: "b", Sum: "c", Pkg: "d", Path: "e", More: []string{"f"}}
	for _, other := range []GoMain{
		{"x", "b", "c", "d", "e", []string{"f"}}, {"a", "x", "c", "d", "e", []string{"f"}}, {"a", "b", "x", "d", "e", []string{"f"}},
		{"a", "b", "c", "x", "e", []string{"f"}}, {"a", "b", "c", "d", "x", []string{"f"}}, {"a", "b", "c", "d", "e", []string{"x"}},
	} {
		require.NotEqual(t, g.content(), other.content())
	}
	d := Debian{Packages: []string{"a"}, Drop: []string{"b"}}
	require.NotEqual(t, d.content(), Debian{Packages: []string{"x"}, Drop: []string{"b"}}.content())
	require.NotEqual(t, d.content(), Debian{Packages: []string{"a"}, Drop: []string{"x"}}.content())
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		image      election.Image
		want, hint string
	}{
		{election.Image{Recipe: "etcdd", Version: "1"}, `etcdd 1: unknown recipe "etcdd"`, `did you mean "etcd"?`},
		{etcdImage("3.4.20"), `etcd 3.4.20: "3.4.20" is no version of etcd that Recount runs`, "known: 3.4.23, and all of 3.6"},
		{etcdImage("3.6"), `"3.6" is no version of etcd`, "known: "},
		{etcdImage("3.6.1/../../main"), "is no version of etcd", "known: "},
		{etcdImage(""), `"" is no version of etcd`, "known: "},
	} {
		root, _, err := Build(t.Context(), c.image, nil)
		require.ErrorContains(t, err, c.want)
		require.Contains(t, hint.Of(err), c.hint)
		require.Nil(t, root)
	}
}

// A machine without the tools is told what to install, and keeps no temporary folder.
func TestBuildWithoutTools(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct{ version, want, hint string }{
		{"3.6.16", "this machine has no go", "https://go.dev/dl"},
		{"3.4.23", "it comes from Debian packages: this machine has no apt-get", "3.4.15"},
	} {
		_, _, err := Build(t.Context(), etcdImage(c.version), nil)
		require.ErrorContains(t, err, c.want)
		require.Contains(t, hint.Of(err), c.hint)
		requireEmpty(t, os.TempDir())
	}
}

// The tools of the next tests are scripts, first in the path.
func tool(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", t.TempDir())
}

func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestBuildWithGo(t *testing.T) {
	// $5 is the file after -o.
	tool(t, "go", `echo "downloading $CGO_ENABLED $GOOS" >&2; grep -q etcd go.mod && mkdir -p "${5%/*}" && printf "$1 $3" >"$5"`)
	var progress []string
	root, key, err := Build(t.Context(), etcdImage("3.6.16"), func(line string) { progress = append(progress, line) })
	require.NoError(t, err)
	requireEmpty(t, os.TempDir())
	require.Equal(t, []string{"downloading 0 linux"}, progress)
	require.Contains(t, Ref(etcdImage("3.6.16")), key[:12])
	require.Equal(t, map[string]string{"usr/": "", "usr/bin/": "", "usr/bin/etcd": "build -mod=readonly"}, unpack(t, root))
	require.NoError(t, root.Close())

	root, _, err = Build(t.Context(), etcdImage("3.6.15"), nil)
	require.NoError(t, err)
	defer root.Close()
	require.Equal(t, "build -mod=mod", unpack(t, root)["usr/bin/etcd"], "a version that is not pinned is resolved")
}

func TestBuildKeepsLastLines(t *testing.T) {
	tool(t, "go", `for i in 1 2 3 4 5 6; do echo "line $i"; done; printf "403 Forbidden" >&2; exit 1`)
	_, _, err := Build(t.Context(), etcdImage("3.6.16"), nil)
	require.EqualError(t, err, "etcd 3.6.16: go build: exit status 1: line 4; line 5; line 6; 403 Forbidden")
	requireEmpty(t, os.TempDir())
}

// When the caller gives up, the tool and its children end and the folder goes.
func TestBuildCancelled(t *testing.T) {
	for name, script := range map[string]string{
		"ends when interrupted": `echo started; sleep 1000`,
		"child ignores it":      `echo started; sleep 1000 & wait`, // as a shell makes what it starts in the background
		"ignores it":            `trap "" INT; echo started; sleep 1000; sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			defer func(was time.Duration) { interruptGrace = was }(interruptGrace)
			interruptGrace = 100 * time.Millisecond
			// All of them hold the writing end of a pipe: it is closed when nobody is left.
			pipe := filepath.Join(t.TempDir(), "pipe")
			require.NoError(t, syscall.Mkfifo(pipe, 0o600))
			alive, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			require.NoError(t, err)
			defer alive.Close()
			tool(t, "go", fmt.Sprintf("exec 9>%s; %s", pipe, script))

			ctx, cancel := context.WithCancelCause(t.Context())
			enough := errors.New("enough")
			_, _, err = Build(ctx, etcdImage("3.6.16"), func(line string) { cancel(enough) })
			require.ErrorIs(t, err, enough)
			requireEmpty(t, os.TempDir())
			require.NoError(t, alive.SetReadDeadline(time.Now().Add(time.Minute)))
			_, err = io.ReadAll(alive)
			require.NoError(t, err, "somebody is left")
		})
	}
}

func TestBuildWithDebian(t *testing.T) {
	tool(t, "apt-get", `test "$1 $2" = "download --" && shift 2 && echo "Get:1 $1" && echo "Get:2 $2" && echo "Fetched" && touch server.deb libc.deb`)
	tool(t, "dpkg-deb", `mkdir -p "$3/usr/bin" "$3/usr/share/doc" "$3/etc/init.d" && cd "$3/usr/bin" && echo "$2" >"$(basename "$2" .deb)"`)
	temp := filepath.Join(t.TempDir(), "temp[1]") // which is no pattern
	require.NoError(t, os.Mkdir(temp, 0o700))
	t.Setenv("TMPDIR", temp)
	var progress []string
	root, _, err := Build(t.Context(), etcdImage("3.4.23"), func(line string) { progress = append(progress, line) })
	require.NoError(t, err)
	defer root.Close()
	requireEmpty(t, os.TempDir())
	require.Equal(t, []string{
		"downloading 2 packages of Debian's",
		"downloading 1 of 2 packages of Debian's", "downloading 2 of 2 packages of Debian's",
		"unpacking 1 of 2 packages of Debian's", "unpacking 2 of 2 packages of Debian's",
	}, progress)
	files := unpack(t, root)
	require.Len(t, files, 4, "what is not needed to run is left out: %v", files)
	require.Contains(t, files, "usr/bin/libc")
	require.Contains(t, files, "usr/bin/server")
}

// A socket in /run is one in /var/run, too, as on a machine that Debian was installed on.
func TestBuildOfPackagesHasOneRun(t *testing.T) {
	tool(t, "apt-get", `case $1 in --simulate) echo "Inst base-files (1 Debian)" ;; download) touch base-files.deb ;; esac`)
	tool(t, "dpkg-deb", `mkdir -p "$3/run" "$3/var/run/server" "$3/var/lock" && echo 7 >"$3/var/run/server/pid"`)
	root, _, err := Build(t.Context(), election.Image{Debian: "base-files"}, nil)
	require.NoError(t, err)
	defer root.Close()
	links, modes := map[string]string{}, map[string]int64{}
	for r := tar.NewReader(root); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		links[h.Name], modes[h.Name] = h.Linkname, h.Mode
	}
	require.Equal(t, "../run", links["var/run"])
	require.Equal(t, "../run/lock", links["var/lock"])
	require.EqualValues(t, 0o1777, modes["run/lock/"])
	require.Contains(t, modes, "run/server/pid")
}

func TestBuildWithoutThePackage(t *testing.T) {
	tool(t, "dpkg-deb", "exit 0")
	tool(t, "apt-get", `echo "E: Version '3.4.23*' for 'etcd-server' was not found" >&2; exit 100`)
	_, _, err := Build(t.Context(), etcdImage("3.4.23"), nil)
	require.EqualError(t, err, "etcd 3.4.23: apt-get download: exit status 100: E: Version '3.4.23*' for 'etcd-server' was not found")
	require.Contains(t, hint.Of(err), "apt-get update")
	require.Contains(t, hint.Of(err), "3.4.15")
}

// Who gives up while apt looks for what a package needs has not misspelt it.
func TestBuildCancelledWhileAptLooks(t *testing.T) {
	begun := filepath.Join(t.TempDir(), "begun")
	tool(t, "apt-get", ": >"+begun+"; exec sleep 1000")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(begun); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, _, err := Build(ctx, election.Image{Debian: "server"}, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, hint.Of(err))
	requireEmpty(t, os.TempDir())
}

func TestPack(t *testing.T) {
	root := t.TempDir()
	write := func(name string, mode os.FileMode) {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(name), mode))
	}
	write("usr/bin/server", 0o700)
	write("data.txt", 0o600)
	require.NoError(t, os.Symlink("/usr/bin/server", filepath.Join(root, "run")))
	require.NoError(t, os.Mkdir(filepath.Join(root, "tmp"), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(root, "tmp"), 0o777|os.ModeSticky))

	archive, err := pack(root, t.TempDir())
	require.NoError(t, err)
	defer archive.Close()
	first, err := io.ReadAll(archive)
	require.NoError(t, err)

	modes := map[string]int64{}
	for r := tar.NewReader(strings.NewReader(string(first))); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		require.Zero(t, h.Uid)
		modes[h.Name] = h.Mode
		if h.Name == "run" {
			require.Equal(t, "/usr/bin/server", h.Linkname)
		}
	}
	require.Equal(t, map[string]int64{"usr/": 0o755, "usr/bin/": 0o755, "usr/bin/server": 0o755, "data.txt": 0o644, "run": 0o755, "tmp/": 0o1777}, modes)

	require.NoError(t, os.Chmod(filepath.Join(root, "data.txt"), 0o644))
	again, err := pack(root, t.TempDir())
	require.NoError(t, err)
	defer again.Close()
	second, err := io.ReadAll(again)
	require.NoError(t, err)
	require.Equal(t, first, second, "the same files make the same archive")
}

// unpack reads an archive: its folders, and its files with what is in them.
func unpack(t *testing.T, root io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for r := tar.NewReader(root); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		files[h.Name] = string(b)
	}
}

// A program whose own main package is built comes without one of ours.
func TestBuildItsOwnMain(t *testing.T) {
	tool(t, "go", `test ! -e main.go && for last; do :; done && mkdir -p "${5%/*}" && printf "$last" >"$5"`)
	root, _, err := Build(t.Context(), election.Image{Recipe: "own", Version: "2.12.15"}, nil)
	require.NoError(t, err)
	defer root.Close()
	require.Equal(t, "example.com/own", unpack(t, root)["usr/bin/own"])
}

func TestPublished(t *testing.T) {
	up, err := Published(etcdImage("3.4.20"))
	require.NoError(t, err)
	require.Equal(t, Upstream{"registry.example/etcd:v3.4.20", map[string]string{"/usr/local/bin/etcd": "usr/bin/etcd"}}, up)
	_, err = Published(election.Image{Recipe: "own", Version: "1.7.3"})
	require.ErrorContains(t, err, "nobody publishes an image of it")
	require.Contains(t, hint.Of(err), "recount images build own:1.7.3 builds it; pulled can be: [etcd]")
}

// What can be pulled need not be built; what can be neither is refused.
func TestCheck(t *testing.T) {
	require.NoError(t, Check(etcdImage("3.6.16")))
	require.NoError(t, Check(etcdImage("3.4.20")))
	require.Error(t, Check(etcdImage("4.0.0")))
	require.ErrorContains(t, Check(election.Image{Recipe: "etcdd", Version: "1"}), `unknown recipe "etcdd"`)
}

func TestRegisteredTwice(t *testing.T) {
	require.Panics(t, func() { Register(System{Name: "etcd"}) })
}
