package docker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// contextHost returns the address of the engine that the docker command would talk to, where that is told by a context
// ("docker context use"), as desktop and rootless installations do; "" leaves it to DOCKER_HOST or the default.
func contextHost() (string, error) {
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		return "", spoken("DOCKER_HOST", host)
	}
	dir := os.Getenv("DOCKER_CONFIG")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", nil
		}
		dir = filepath.Join(home, ".docker")
	}
	var config struct{ CurrentContext string }
	if err := readJSON(filepath.Join(dir, "config.json"), &config); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	name := cmp.Or(os.Getenv("DOCKER_CONTEXT"), config.CurrentContext, "default")
	if name == "default" {
		return "", nil
	}
	id := sha256.Sum256([]byte(name))
	var meta struct {
		Endpoints map[string]struct{ Host string }
	}
	if err := readJSON(filepath.Join(dir, "contexts", "meta", hex.EncodeToString(id[:]), "meta.json"), &meta); err != nil {
		return "", fmt.Errorf("context %q: %w", name, err)
	}
	host := meta.Endpoints["docker"].Host
	return host, spoken(fmt.Sprintf("context %q", name), host)
}

// spoken tells whether an engine can be reached at an address, of what names it.
func spoken(by, host string) error {
	if strings.HasPrefix(host, "ssh://") {
		return fmt.Errorf("%s: %s: ssh is not spoken here", by, host)
	}
	return nil
}

func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
