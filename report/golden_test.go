package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what is written with a file that people have looked at.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "%s differs; after looking at it, rewrite it with -update", path)
}

func TestGoldenText(t *testing.T) {
	for name, r := range map[string]*record.Run{"ping-pong.txt": pingPong(t), "storm.txt": storm(t, 9, 60*time.Second)} {
		var b bytes.Buffer
		require.NoError(t, Text(&b, r, false))
		golden(t, name, b.Bytes())
	}
}

func TestGoldenJUnit(t *testing.T) {
	for name, r := range map[string]*record.Run{"ping-pong.xml": pingPong(t), "storm.xml": storm(t, 9, 60*time.Second)} {
		var b bytes.Buffer
		require.NoError(t, JUnit(&b, r))
		golden(t, name, b.Bytes())
	}
}

func TestGoldenJSON(t *testing.T) {
	b, err := JSON(pingPong(t))
	require.NoError(t, err)
	golden(t, "ping-pong.json", b)
}
