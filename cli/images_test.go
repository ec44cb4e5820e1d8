package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"recount/docker"
	"recount/docker/recipes"
	"recount/election"
)

func TestImagesAreNamedAsPeopleCallThem(t *testing.T) {
	of := election.Image{Recipe: "etcd", Version: "3.6.16"}
	etcd := docker.Image{Ref: recipes.Ref(of), System: "etcd"}
	require.Equal(t, "etcd:3.6.16", word(etcd))
	require.False(t, outdated(etcd))
	require.True(t, outdated(docker.Image{Ref: etcd.Ref + "0", System: "etcd"}))
	require.Equal(t, "etcd:latest", word(docker.Image{Ref: "recount/etcd:latest", System: "etcd"}), "it has no version")
	own := docker.Image{Ref: "recount/binary:4485107b60d4", Origin: docker.OfBinary}
	require.Equal(t, "binary:4485107b60d4", word(own))
	require.Equal(t, "an executable that a spec file names", origin(own))
	listed := docker.Image{Ref: "recount/debian:4485107b60d4"}
	require.Equal(t, "debian:4485107b60d4", word(listed))
	require.False(t, outdated(listed), "a file may list its packages")
}
