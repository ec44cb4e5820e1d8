//go:build linux

package disk

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"recount/internal/hint"
)

// Space is the mount namespace of the container engine: where the folders of volumes are, and from where a container
// that starts takes its mounts. What is mounted there shows in the container without any sharing of mounts between them.
type Space struct{ file *os.File }

// EngineSpace opens the mount namespace that this container was made in: that of the process that started it. It takes
// the host's pid namespace, and the right to look into processes.
func EngineSpace() (*Space, error) {
	parent := os.Getppid()
	if parent == 0 {
		return nil, errors.New("the process that serves the disks does not see who started it: it needs the host's pid namespace")
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", parent))
	if err != nil {
		return nil, fmt.Errorf("open the engine's mounts: %w", err)
	}
	return &Space{f}, nil
}

// Close closes the namespace.
func (s *Space) Close() error { return s.file.Close() }

// do runs f on a thread of its own inside the namespace. The thread is of no use to anybody after that.
func (s *Space) do(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
		done <- func() error {
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				return fmt.Errorf("leave the process's root: %w", err)
			}
			if err := unix.Setns(int(s.file.Fd()), unix.CLONE_NEWNS); err != nil {
				return fmt.Errorf("enter the engine's mounts: %w", err)
			}
			return f()
		}()
	}()
	return <-done
}

// Load puts on the disk what an image has brought along in the folder that the disk is to be mounted on: files, folders
// and links, with their owners and modes. It is called before the disk is first attached.
func (s *Space) Load(d *Disk, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := s.do(func() error {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		d.root.own(info)
		return d.load(d.root, path)
	})
	d.touched = false // by no node
	if err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	return nil
}

// Usable tells whether disks can be served there.
func (s *Space) Usable() error {
	return s.do(func() error {
		device, err := openDevice()
		if err == nil {
			unix.Close(device)
		}
		return err
	})
}

// openDevice opens a connection to the kernel's FUSE.
func openDevice() (int, error) {
	device, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	switch {
	case err == nil:
		return device, nil
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		return 0, hint.Add(fmt.Errorf("the engine's machine has no FUSE: open /dev/fuse: %w", err),
			"modprobe fuse, on that machine; or leave out crash, lose-writes and the faults of disks")
	}
	return 0, hint.Add(fmt.Errorf("open /dev/fuse: %w", err),
		"an engine that is rootless or maps users does not let containers use FUSE; leave out crash, lose-writes and the faults of disks")
}

// Attached is a disk that is mounted.
type Attached struct {
	*Mount
	space *Space
	path  string
	id    uint64 // of the file system, as stat tells it

	mu   sync.Mutex // guards root: a run may end while the disk is tried
	root int        // its folder, in whichever namespace; -1 once it is detached
}

// Attach mounts a disk on a folder.
func (s *Space) Attach(d *Disk, path string) (*Attached, error) {
	a := &Attached{space: s, path: path, root: -1}
	var device int
	err := s.do(func() (err error) {
		if device, err = openDevice(); err != nil {
			return err
		}
		options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions", device)
		if err := unix.Mount("recount", path, "fuse.recount", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			unix.Close(device)
			return fmt.Errorf("mount the disk on %s: %w", path, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.Mount, err = d.Serve(device) // which closes the device in the end
	if err == nil {
		err = s.do(func() (err error) {
			if a.root, err = unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
				return fmt.Errorf("open %s: %w", path, err)
			}
			var st unix.Stat_t
			if err := unix.Fstat(a.root, &st); err != nil {
				return fmt.Errorf("look at %s: %w", path, err)
			}
			a.id = st.Dev
			return nil
		})
	}
	if err != nil {
		return nil, errors.Join(err, a.Detach())
	}
	return a, nil
}

// Detach takes the disk away from its folder. Whoever has files of it open keeps them until they are closed.
func (a *Attached) Detach() error {
	a.mu.Lock()
	if a.root >= 0 {
		unix.Close(a.root)
		a.root = -1
	}
	a.mu.Unlock()
	return a.space.Release(a.path)
}

// Release takes away what disks are mounted on a folder, dead ones included. It is no error if there are none.
func (s *Space) Release(path string) error {
	return s.do(func() error {
		for {
			var fs unix.Statfs_t
			err := unix.Statfs(path, &fs)
			if errors.Is(err, unix.ENOENT) || err == nil && fs.Type != unix.FUSE_SUPER_MAGIC {
				return nil
			}
			// An error says that whoever served it is gone: it is a mount all the same, and ours by its place.
			if err := unix.Unmount(path, unix.MNT_DETACH); errors.Is(err, unix.EINVAL) {
				return nil // no mount at all
			} else if err != nil {
				return fmt.Errorf("unmount %s: %w", path, err)
			}
		}
	})
}

// Holds tells whether a path, which may lead through /proc into a container, is on this disk.
func (a *Attached) Holds(path string) (bool, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return false, err
	}
	return st.Dev == a.id, nil
}
