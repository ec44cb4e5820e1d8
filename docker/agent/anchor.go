//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Anchor does nothing until it is told to end. Its container owns a node's network namespace, address and name, which
// so outlive the node. As first process of its container it takes note of the end of whatever ran beside it. Of these
// folders, which only one that is itself a node has, it first uses each, and says so.
func Anchor(folders []string) error {
	for _, folder := range folders {
		if err := use(folder); err != nil {
			return err
		}
		fmt.Println(FolderUsed)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGCHLD)
	for s := range signals {
		if s != unix.SIGCHLD {
			return nil
		}
		for pid := 1; pid > 0; {
			pid, _ = unix.Wait4(-1, nil, unix.WNOHANG, nil)
		}
	}
	return nil
}

// use writes a file in a folder and syncs it: a write alone need not have come to the disk.
func use(folder string) error {
	f, err := os.Create(filepath.Join(folder, "used"))
	if err != nil {
		return err
	}
	_, err = f.WriteString("used")
	return errors.Join(err, f.Sync(), f.Close())
}
