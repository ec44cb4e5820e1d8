package recipes

import (
	"fmt"

	"recount/internal/hint"
)

func init() { systems["redis"] = redis }

// redis is the recipe for the version that Debian 12 has. The server is a sentinel as well.
func redis(version string) (recipe, error) {
	if version != "7.0.15" {
		return nil, hint.Add(fmt.Errorf("no recipe for version %q", version), "known: 7.0.15, which Debian 12 has")
	}
	return debian{
		packages: []string{
			"redis-server=5:7.0.15*", "redis-tools=5:7.0.15*", "libc6", "libatomic1", "libstdc++6", "libgcc-s1", "libjemalloc2",
			"liblzf1", "libssl3", "libsystemd0", "libcap2", "libgcrypt20", "libgpg-error0", "liblz4-1", "liblzma5", "libzstd1",
		},
		drop: []string{
			"etc", "usr/share", "lib/systemd", "usr/bin/redis-benchmark", "usr/bin/redis-check-aof", "usr/lib/*/gconv", "usr/lib/*/audit",
			"usr/lib/*/engines-3", "usr/lib/*/ossl-modules", "usr/sbin", "sbin",
		},
		lacks: "version 7.0.15 needs apt-get and dpkg-deb on Debian 12",
	}, nil
}
