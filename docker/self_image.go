package docker

import (
	"context"
	"fmt"
	"os"
	"runtime"
)

// SelfPath is where the image that SelfImage makes keeps Recount's executable.
const SelfPath = "/recount"

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
	return e.executableImage(ctx, OfSelf, path, SelfPath[1:], progress)
}
