package docker

import (
	"archive/tar"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
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

// What an engine has begun to make it makes, though nobody wants it any more: it is removed.
func TestWhatIsMadeForNobodyIsRemoved(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	e, questions := askedEngine(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			interrupt()
			time.Sleep(50 * time.Millisecond)
			answerJSON(w, map[string]string{"Id": "one"})
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	_, err := e.Extract(ctx, "image", map[string]string{"/a": "bin/a"})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "DELETE /containers/one?force=1&v=1", questions()[len(questions())-1])
}

// From elsewhere nobody can tell whether the process lives that takes files out of an image: for a while it is taken to.
func TestCleanLeavesWhatIsBeingExtracted(t *testing.T) {
	for age, removed := range map[time.Duration]bool{5 * time.Minute: false, time.Hour: true} {
		gone := false
		e, _ := askedEngine(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodDelete:
				gone = true
				w.WriteHeader(http.StatusNoContent)
			case r.URL.Path == "/volumes":
				answerJSON(w, map[string]any{})
			case r.URL.Path == "/containers/json" && !gone:
				answerJSON(w, []container.Summary{{
					ID: "one", Names: []string{"/one"}, State: container.StateCreated, Created: time.Now().Add(-age).Unix(),
					Labels: map[string]string{labelRun: runExtract, labelOwner: "elsewhere/pid:[1]/1/1"},
				}})
			default:
				answerJSON(w, []any{})
			}
		})
		_, err := e.Clean(t.Context(), false)
		require.NoError(t, err)
		require.Equal(t, removed, gone, age)
	}
}
