package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

// registry answers a pull of one image with one file in it, on this machine's loopback: engines trust that without TLS.
func registry(t *testing.T, name, content string) (host string) {
	t.Helper()
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(content))}))
	_, err := io.WriteString(w, content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	digest := func(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest(layer.Bytes())}},
	})
	require.NoError(t, err)
	const kind = "application/vnd.docker.distribution.manifest.v2+json"
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": kind,
		"config": map[string]any{"mediaType": "application/vnd.docker.container.image.v1+json", "size": len(config), "digest": digest(config)},
		"layers": []any{map[string]any{
			"mediaType": "application/vnd.docker.image.rootfs.diff.tar", "size": layer.Len(), "digest": digest(layer.Bytes()),
		}},
	})
	require.NoError(t, err)
	blobs := map[string][]byte{digest(config): config, digest(layer.Bytes()): layer.Bytes()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, last, _ := strings.Cut(r.URL.Path, "/v2/server/")
		kindOf, name, _ := strings.Cut(last, "/")
		switch {
		case r.URL.Path == "/v2/":
		case kindOf == "manifests" && (name == "1.0" || name == digest(manifest)):
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Docker-Content-Digest", digest(manifest))
			_, _ = w.Write(manifest)
		case kindOf == "blobs" && blobs[name] != nil:
			_, _ = w.Write(blobs[name])
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// An image is pulled, a program is taken out of it, and becomes an image of ours.
func TestPullAndExtract(t *testing.T) {
	e := engine(t)
	if os.Getenv("DOCKER_HOST") != "" {
		t.Skip("the engine may be on another machine, with another loopback")
	}
	host := registry(t, "server", "a program")
	ref, ours := host+"/server:1.0", fmt.Sprintf("recount/test:1.0-%d", os.Getpid())
	var lines []string
	require.NoError(t, e.Pull(t.Context(), ref, func(line string) { lines = append(lines, line) }))
	require.NotEmpty(t, lines)
	t.Cleanup(func() { require.NoError(t, e.RemoveImage(context.WithoutCancel(t.Context()), ref)) })

	root, err := e.Extract(t.Context(), ref, map[string]string{"/server": "usr/bin/server"})
	require.NoError(t, err)
	require.NoError(t, e.ImportSystem(t.Context(), ours, root, "test", "pulled:"+ref))
	all, err := e.Images(t.Context())
	require.NoError(t, err)
	var found *Image
	for i := range all {
		if all[i].Ref == ours {
			found = &all[i]
		}
	}
	require.NotNil(t, found, "%v", all)
	require.Equal(t, "test", found.System)
	require.Equal(t, "pulled:"+ref, found.Origin)

	again, err := e.Extract(t.Context(), ours, map[string]string{"/usr/bin/server": "server"})
	require.NoError(t, err)
	r := tar.NewReader(again)
	_, err = r.Next()
	require.NoError(t, err)
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "a program", string(content))

	_, err = e.Extract(t.Context(), ours, map[string]string{"/usr/bin/nothing": "server"})
	require.ErrorContains(t, err, "extract /usr/bin/nothing from "+ours)
	_, err = e.Extract(t.Context(), ours, map[string]string{"/usr/bin": "server"})
	require.ErrorContains(t, err, "it is no file")

	require.NoError(t, e.RemoveImage(t.Context(), ours))
	has, err := e.HasImage(t.Context(), ours)
	require.NoError(t, err)
	require.False(t, has)
}

func TestPullWithoutARegistry(t *testing.T) {
	e := engine(t)
	server := httptest.NewServer(http.NotFoundHandler())
	host := strings.TrimPrefix(server.URL, "http://")
	server.Close() // nobody listens there now
	err := e.Pull(t.Context(), host+"/server:1.0", func(string) {})
	require.ErrorContains(t, err, "pull "+host+"/server:1.0: ")
	require.Contains(t, hint.Of(err), "the engine must reach that registry")
}
