package docker

import (
	"archive/tar"
	"encoding/base64"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is taken out of one image is the same bytes each time: images are told apart by them.
func TestExtractingIsInOneOrder(t *testing.T) {
	e, questions := askedEngine(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			answerJSON(w, map[string]string{"Id": "one"})
		case http.MethodGet:
			name := r.URL.Query().Get("path")
			w.Header().Set("X-Docker-Container-Path-Stat", base64.StdEncoding.EncodeToString([]byte("{}")))
			archive := tar.NewWriter(w)
			archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(name))})
			io.WriteString(archive, name)
			archive.Close()
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	files, want := map[string]string{}, ""
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		files["/"+name] = "bin/" + name
		want += "bin/" + name + "=/" + name + " "
	}
	archive, err := e.Extract(t.Context(), "image", files)
	require.NoError(t, err)
	got := ""
	r := tar.NewReader(archive)
	for h, err := r.Next(); err != io.EOF; h, err = r.Next() {
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		got += h.Name + "=" + string(text) + " "
	}
	require.Equal(t, want, got)
	require.Contains(t, questions(), "DELETE /containers/one?force=1&v=1", "with the volumes that the image asks for")
}
