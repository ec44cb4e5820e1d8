package zookeeper

import "recount/docker/recipes"

// Version is the one that there is a recipe for.
const Version = "3.8.0"

func init() {
	recipes.Register(recipes.System{Name: "zookeeper", Versions: Version + ", which Debian 12 has", Recipe: recipe})
}

// recipe is how the version that Debian 12 has is made, with as much of a Java runtime as it needs.
func recipe(version string) recipes.Recipe {
	if version != Version {
		return nil
	}
	const jvm = "usr/lib/jvm/java-17-openjdk-*/"
	return recipes.Debian{
		Packages: []string{
			"libzookeeper-java=" + Version + "*", "openjdk-17-jre-headless", "libc6", "libgcc-s1", "libstdc++6", "zlib1g",
			"libslf4j-java", "libnetty-java", "libdropwizard-metrics-java", "libsnappy-java", "libcommons-cli-java",
		},
		Drop: []string{
			"usr/share/doc", "usr/share/maven-repo", "usr/share/lintian", "usr/share/gdb", "usr/share/gcc", "usr/share/binfmts",
			"usr/share/java/zookeeper-contrib*", "usr/share/java/zookeeper-it*", "usr/lib/*/gconv", "usr/lib/*/audit",
			jvm + "lib/ct.sym", jvm + "lib/libawt*", jvm + "lib/libmlib*", jvm + "lib/libfont*", jvm + "lib/libjavajpeg*",
			jvm + "lib/liblcms*", jvm + "lib/libjsound*", jvm + "lib/libsaproc*", jvm + "lib/server/classes_nocoops.jsa",
			jvm + "man", jvm + "legal",
		},
		Lacks: "version " + Version + " needs apt-get and dpkg-deb on Debian 12",
	}
}
