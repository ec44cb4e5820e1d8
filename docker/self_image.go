package docker

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
)

const (
	selfName = "recount/self"
	// SelfPath is where the image that SelfImage makes keeps Recount's executable.
	SelfPath = "/recount"
	// unusedFor is how long an image of another Recount must not have been asked for before it is removed.
	unusedFor = 10 * time.Minute
)

// SelfImage returns the name of an image that holds nothing but this executable, at SelfPath. It is made if the engine
// does not have it. Where this executable is none for Linux containers, the one beside it is taken whose name ends in
// -linux-amd64, or whatever the engine's architecture is.
func (e *Engine) SelfImage(ctx context.Context, progress func(string)) (ref string, err error) {
	path, err := e.self()
	if err != nil {
		return "", err
	}
	return e.ExecutableImage(ctx, path, progress)
}

func (e *Engine) self() (path string, err error) {
	path, err = os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this executable: %w", err)
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != e.version.Arch {
		path += "-linux-" + e.version.Arch
	}
	return path, nil
}

// ExecutableImage is SelfImage with the executable in that file.
func (e *Engine) ExecutableImage(ctx context.Context, path string, progress func(string)) (ref string, err error) {
	if err := CheckExecutable(path, e.version.Arch); err != nil {
		return "", err
	}
	if progress == nil {
		progress = func(string) {}
	}
	ref, had, err := e.executableImage(ctx, selfName, path, SelfPath[1:], progress, "LABEL "+labelImage+"=self")
	switch {
	case err != nil:
		return "", err
	case !had:
		return ref, e.removeOldSelf(ctx, ref)
	}
	// A new tag, though the same one, tells other Recounts that somebody wants the image.
	if err := e.api.ImageTag(ctx, ref, ref); err != nil {
		return "", fmt.Errorf("tag image %s: %w", ref, err)
	}
	return ref, nil
}

// removeOldSelf removes images of other Recounts that nobody uses: each build of Recount makes a new one.
func (e *Engine) removeOldSelf(ctx context.Context, keep string) error {
	all, err := e.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelImage+"=self"))})
	if err != nil {
		return fmt.Errorf("list old images: %w", err)
	}
	for _, old := range all {
		for _, ref := range old.RepoTags {
			if ref == keep {
				continue
			}
			is, err := e.api.ImageInspect(ctx, ref)
			if err != nil || time.Since(is.Metadata.LastTagTime) < unusedFor {
				continue
			}
			// The engine itself refuses to remove what a container uses, and somebody else may have been quicker.
			_, err = e.api.ImageRemove(ctx, ref, image.RemoveOptions{})
			if err != nil && !cerrdefs.IsConflict(err) && !cerrdefs.IsNotFound(err) {
				return fmt.Errorf("remove old image %s: %w", ref, err)
			}
		}
	}
	return nil
}
