package docker

import (
	"fmt"
	"os"
	"strings"

	"recount/internal/procstat"
)

// Everything that Recount makes in an engine carries labels, by which it is found and removed again.
const (
	labelRun   = "recount.run"   // which run
	labelRole  = "recount.role"  // what a container is for
	labelNode  = "recount.node"  // which node
	labelOwner = "recount.owner" // which process made it
	labelDisk  = "recount.disk"  // volumes: a disk that can fail is mounted on it
	labelImage = "recount.image" // images: what is in it
)

// runExtract is as whose run the containers go that files are taken out of.
const runExtract = "extract"

// The roles of containers.
const (
	roleAgent   = "agent"
	roleAnchor  = "anchor"
	roleNode    = "node"
	roleSidecar = "sidecar"
	roleRelease = "release" // unmounts what a killed agent has left
)

// ownLabel names this process so that no other has ever the same name: boot, pid namespace, number and start time. It is
// "" where the system tells none of that.
func ownLabel() string {
	name, err := processName(os.Getpid())
	if err != nil {
		return ""
	}
	return name
}

func processName(pid int) (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	is, err := procstat.Of(pid)
	if err != nil {
		return "", err
	}
	if is.Ended() {
		return "", fmt.Errorf("process %d has ended", pid)
	}
	return fmt.Sprintf("%s/%s/%d/%s", strings.TrimSpace(string(boot)), space, pid, is.Started), nil
}

// ownerAlive tells whether the process of that label lives, and whether that can be known from here.
func ownerAlive(label string) (alive, known bool) {
	part := strings.Split(label, "/")
	own := strings.Split(ownLabel(), "/")
	if len(part) != 4 || len(own) != 4 || part[0] != own[0] || part[1] != own[1] {
		return false, false // another machine, an earlier boot, or another container
	}
	var pid int
	if _, err := fmt.Sscanf(part[2], "%d", &pid); err != nil {
		return false, false
	}
	now, err := processName(pid)
	return err == nil && now == label, true
}
