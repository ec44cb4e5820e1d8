package docker

import (
	"archive/tar"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// Folders come before what is in them, each once, and the same files make the same archive.
func TestFilesArePackedWithTheirFolders(t *testing.T) {
	files := map[string]string{"/zoo.cfg": "tickTime=500\n", "/data/myid": "1\n", "/data/deep/er": "", "/up.sh": "#!/bin/sh\n"}
	archive, err := packFiles(files)
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
	require.Equal(t, []string{"data/", "data/deep/", "data/deep/er", "data/myid", "up.sh", "zoo.cfg"}, names)
}
