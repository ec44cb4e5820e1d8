package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/stretchr/testify/require"
)

// Folders come before what is in them, each once, without those that are there, and the same files make the same archive.
func TestFilesArePackedWithTheirFolders(t *testing.T) {
	files := map[string]string{"/zoo.cfg": "tickTime=500\n", "/data/myid": "1\n", "/data/deep/er": "", "/up.sh": "#!/bin/sh\n", "/var/run/x": ""}
	archive, err := packFiles(files, func(folder string) (bool, error) { return folder == "/var" || folder == "/var/run", nil })
	require.NoError(t, err)
	var names []string
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		names = append(names, h.Name)
		if h.Typeflag == tar.TypeReg {
			b, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, files["/"+h.Name], string(b))
			require.Equal(t, h.Name == "up.sh", h.Mode&0o111 != 0, "a script can be run")
		}
	}
	require.Equal(t, []string{"data/", "data/deep/", "data/deep/er", "data/myid", "up.sh", "var/run/x", "zoo.cfg"}, names)
}

// An image's folders stay what they are: the file that is written there is all that changes.
func TestFilesLeaveFoldersAsTheyAre(t *testing.T) {
	e := engine(t)
	root := new(bytes.Buffer)
	w := tar.NewWriter(root)
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeDir, Name: "run/", Mode: 0o755},
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
		{Typeflag: tar.TypeDir, Name: "var/", Mode: 0o755},
		{Typeflag: tar.TypeDir, Name: "var/own/", Mode: 0o700, Uid: 5, Gid: 6},
		{Typeflag: tar.TypeSymlink, Name: "var/run", Linkname: "/run", Mode: 0o777},
	} {
		require.NoError(t, w.WriteHeader(&h))
	}
	require.NoError(t, w.Close())
	ref := "recount/folders:" + runID(t)
	require.NoError(t, e.importImage(t.Context(), ref, root))
	t.Cleanup(func() { require.NoError(t, e.RemoveImage(context.Background(), ref)) })
	made, err := e.api.ContainerCreate(t.Context(), &container.Config{Image: ref, Cmd: []string{"/none"}}, nil, nil, nil, "")
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, e.api.ContainerRemove(context.Background(), made.ID, container.RemoveOptions{Force: true}))
	})
	require.NoError(t, e.writeFiles(t.Context(), made.ID, map[string]string{"/tmp/a": "", "/var/own/b": "", "/var/run/new/c": ""}))

	archive, _, err := e.api.CopyFromContainer(t.Context(), made.ID, "/")
	require.NoError(t, err)
	defer archive.Close()
	got := map[string]tar.Header{}
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		got[strings.Trim(h.Name, "/")] = *h
	}
	require.EqualValues(t, 0o1777, got["tmp"].Mode&0o7777, "all may write there")
	require.Equal(t, []int64{0o700, 5, 6}, []int64{got["var/own"].Mode & 0o7777, int64(got["var/own"].Uid), int64(got["var/own"].Gid)})
	require.EqualValues(t, tar.TypeSymlink, got["var/run"].Typeflag)
	require.EqualValues(t, 0o755, got["run/new"].Mode&0o7777)
	for _, file := range []string{"tmp/a", "var/own/b", "run/new/c"} {
		require.Contains(t, got, file)
	}
}
