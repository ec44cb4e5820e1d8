package docker

import (
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/internal/hint"
)

func TestNoEngine(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(t.TempDir(), "none.sock"))
	_, err := Connect(t.Context())
	require.ErrorContains(t, err, "connect to the Docker engine at unix://")
	require.Equal(t, noEngine, hint.Of(err))

	checks := Doctor(t.Context(), true, nil)
	require.Len(t, checks, 1)
	require.False(t, checks[0].OK)
	require.Equal(t, noEngine, checks[0].Hint)
}

// An engine may take connections and say nothing.
func TestAnEngineThatHangs(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "hung.sock")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	t.Setenv("DOCKER_HOST", "unix://"+socket)
	_, err = connect(t.Context(), 10*time.Millisecond)
	require.EqualError(t, err, "the Docker engine at unix://"+socket+" does not answer: it was asked 10ms ago")
	require.Equal(t, "restart it", hint.Of(err))
	require.False(t, Absent(err))
}

func TestContextHost(t *testing.T) {
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	for _, tt := range []struct {
		name, config, env, meta string
		want, wantErr           string
	}{
		{name: "no config"},
		{name: "no context", config: `{"auths": {}}`},
		{name: "default", config: `{"currentContext": "default"}`},
		{
			name: "current", config: `{"currentContext": "lab"}`,
			meta: `{"Endpoints": {"docker": {"Host": "unix:///lab.sock"}}}`, want: "unix:///lab.sock",
		},
		{
			name: "from the environment", config: `{"currentContext": "other"}`, env: "lab",
			meta: `{"Endpoints": {"docker": {"Host": "tcp://lab:2376"}}}`, want: "tcp://lab:2376",
		},
		{
			name: "ssh", env: "lab",
			meta: `{"Endpoints": {"docker": {"Host": "ssh://lab"}}}`, wantErr: `context "lab": ssh://lab: ssh is not spoken here`,
		},
		{name: "unknown", env: "lab", wantErr: `context "lab": open`},
		{name: "broken", config: `{`, wantErr: "config.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("DOCKER_HOST", "")
			t.Setenv("DOCKER_CONFIG", dir)
			t.Setenv("DOCKER_CONTEXT", tt.env)
			if tt.config != "" {
				write(filepath.Join(dir, "config.json"), tt.config)
			}
			if tt.meta != "" {
				id := fmt.Sprintf("%x", sha256.Sum256([]byte("lab")))
				write(filepath.Join(dir, "contexts", "meta", id, "meta.json"), tt.meta)
			}
			host, err := contextHost()
			if tt.wantErr != "" {
				require.ErrorContains(t, err, tt.wantErr)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, host)
		})
	}
	t.Run("DOCKER_HOST by ssh", func(t *testing.T) {
		t.Setenv("DOCKER_HOST", "ssh://u@lab")
		_, err := Connect(t.Context())
		require.EqualError(t, err, "find the Docker engine: DOCKER_HOST: ssh://u@lab: ssh is not spoken here")
	})
	t.Run("DOCKER_HOST wins", func(t *testing.T) {
		t.Setenv("DOCKER_HOST", "unix:///somewhere.sock")
		t.Setenv("DOCKER_CONTEXT", "unknown")
		host, err := contextHost()
		require.NoError(t, err)
		require.Empty(t, host)
	})
}

func TestDoctor(t *testing.T) {
	e := engine(t)
	checks := append(e.tryFaults(t.Context(), memberImage(t, e), func(s string) { t.Log(s) }), e.leftovers(t.Context()))
	var names []string
	for _, c := range checks {
		require.True(t, c.OK, "%+v", c)
		require.NotEmpty(t, c.Detail)
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"cluster", "addresses", "lose packets", "delay packets", "duplicate packets", "reset connections", "cut links", "pause", "kill and start", "skew clocks", "limit memory", "throttle", "leftovers"}, names)
}

func TestDoctorTriesDisks(t *testing.T) {
	e := engine(t)
	var names []string
	for _, c := range e.tryDisks(t.Context(), memberImage(t, e)) {
		require.True(t, c.OK, "%+v", c)
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"fill a disk", "slow a disk", "fail a disk", "lose un-synced writes"}, names)
}
