package recipes

import (
	"fmt"

	"recount/internal/hint"
)

func init() { systems["zookeeper"] = zookeeper }

// zookeeper is the recipe for the version that Debian 12 has, with as much of a Java runtime as it needs.
func zookeeper(version string) (recipe, error) {
	if version != "3.8.0" {
		return nil, hint.Add(fmt.Errorf("no recipe for version %q", version), "known: 3.8.0, which Debian 12 has")
	}
	const jvm = "usr/lib/jvm/java-17-openjdk-*/"
	return debian{
		packages: []string{
			"libzookeeper-java=3.8.0*", "openjdk-17-jre-headless", "libc6", "libgcc-s1", "libstdc++6", "zlib1g",
			"libslf4j-java", "libnetty-java", "libdropwizard-metrics-java", "libsnappy-java", "libcommons-cli-java",
		},
		drop: []string{
			"usr/share/doc", "usr/share/maven-repo", "usr/share/lintian", "usr/share/gdb", "usr/share/gcc", "usr/share/binfmts",
			"usr/share/java/zookeeper-contrib*", "usr/share/java/zookeeper-it*", "usr/lib/*/gconv", "usr/lib/*/audit",
			jvm + "lib/ct.sym", jvm + "lib/libawt*", jvm + "lib/libmlib*", jvm + "lib/libfont*", jvm + "lib/libjavajpeg*",
			jvm + "lib/liblcms*", jvm + "lib/libjsound*", jvm + "lib/libsaproc*", jvm + "lib/server/classes_nocoops.jsa",
			jvm + "man", jvm + "legal",
		},
		lacks: "version 3.8.0 needs apt-get and dpkg-deb on Debian 12",
	}, nil
}
