package redis

import "recount/docker/recipes"

// Name is what the recipe is called.
const Name = "redis"

// Version is the one that there is a recipe for.
const Version = "7.0.15"

func init() {
	recipes.Register(recipes.System{Name: Name, Versions: Version + ", which Debian 12 has", Recipe: recipe})
}

// recipe is how the version that Debian 12 has is made. The server is a sentinel as well.
func recipe(version string) recipes.Recipe {
	if version != Version {
		return nil
	}
	return recipes.Debian{
		Packages: []string{
			"redis-server=5:" + Version + "*", "redis-tools=5:" + Version + "*", "libc6", "libatomic1", "libstdc++6", "libgcc-s1", "libjemalloc2",
			"liblzf1", "libssl3", "libsystemd0", "libcap2", "libgcrypt20", "libgpg-error0", "liblz4-1", "liblzma5", "libzstd1",
		},
		Drop: []string{
			"etc", "usr/share", "lib/systemd", "usr/bin/redis-benchmark", "usr/bin/redis-check-aof", "usr/lib/*/gconv", "usr/lib/*/audit",
			"usr/lib/*/engines-3", "usr/lib/*/ossl-modules", "usr/sbin", "sbin",
		},
		Lacks: "version " + Version + " needs apt-get and dpkg-deb on Debian 12",
	}
}
