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
	listed := docker.Image{Ref: "recount/debian:4485107b60d4"}
	require.Equal(t, "debian:4485107b60d4", word(listed))
	require.False(t, outdated(listed), "a file may list its packages")
}
