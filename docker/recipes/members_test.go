package recipes

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/internal/hint"
)

// Members of systems that are built with Go: which versions there are recipes for, and that a version is built exactly.
func TestMemberVersions(t *testing.T) {
	for _, c := range []struct{ recipe, version, requires string }{
		{"nats", "2.9.25", "require github.com/nats-io/nats-server/v2 v2.9.25\n"},
		{"nats", "2.12.15", "require github.com/nats-io/nats-server/v2 v2.12.15\n"},
		{"hashicorp-raft", "1.3.9", "replace github.com/hashicorp/raft => github.com/hashicorp/raft v1.3.9\n"},
		{"hashicorp-raft", "1.7.3", "replace github.com/hashicorp/raft => github.com/hashicorp/raft v1.7.3\n"},
		{"dragonboat", "4.0.0-20240618143154-6a1623140f27", "require github.com/lni/dragonboat/v4 v4.0.0-20240618143154-6a1623140f27\n"},
		{"kube-apiserver", "1.34.4", "require k8s.io/kubernetes v1.34.4\n"},
		{"kube-apiserver", "1.34.4", "\tk8s.io/apiserver => k8s.io/apiserver v0.34.4\n"},
	} {
		r, err := find(election.Image{Recipe: c.recipe, Version: c.version})
		require.NoError(t, err)
		g := r.(goMain)
		require.Contains(t, g.mod, c.requires)
		require.Len(t, slices.DeleteFunc([]string{g.main, g.pkg}, func(s string) bool { return s == "" }), 1, "one main package")
	}
	for _, c := range []election.Image{
		{Recipe: "nats", Version: "2.8.4"}, {Recipe: "nats", Version: "2.10"}, {Recipe: "nats", Version: "2.10.1\nreplace x => y"},
		{Recipe: "hashicorp-raft", Version: "1.3.8"}, {Recipe: "hashicorp-raft", Version: "2.0.0"},
		{Recipe: "dragonboat", Version: "3.3.8"},
		{Recipe: "kube-apiserver", Version: "1.33.4"}, {Recipe: "kube-apiserver", Version: "1.34"}, {Recipe: "kube-apiserver", Version: "0.34.4"},
	} {
		_, err := find(c)
		require.ErrorContains(t, err, "no recipe for version")
		require.Contains(t, hint.Of(err), "known: ")
	}
}

// A program whose own main package is built comes without one of ours.
func TestBuildItsOwnMain(t *testing.T) {
	tool(t, "go", `test ! -e main.go && for last; do :; done && mkdir -p "${5%/*}" && printf "$last" >"$5"`)
	root, _, err := Build(t.Context(), election.Image{Recipe: "nats", Version: "2.12.15"}, nil)
	require.NoError(t, err)
	defer root.Close()
	require.Equal(t, "github.com/nats-io/nats-server/v2", unpack(t, root)["usr/bin/nats-server"])
}

func TestPublished(t *testing.T) {
	up, err := Published(etcdImage("3.4.20"))
	require.NoError(t, err)
	require.Equal(t, Upstream{"quay.io/coreos/etcd:v3.4.20", map[string]string{"/usr/local/bin/etcd": "usr/bin/etcd"}}, up)
	_, err = Published(election.Image{Recipe: "hashicorp-raft", Version: "1.7.3"})
	require.ErrorContains(t, err, "nobody publishes an image of it")
	require.Contains(t, hint.Of(err), "recount images build hashicorp-raft:1.7.3 builds it; pulled can be: [etcd nats]")
}
