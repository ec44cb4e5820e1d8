package hint

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUnknownOffersTheNearestNameOrAll(t *testing.T) {
	known := []string{"raft-prevote", "raft", "etcd"}
	for name, want := range map[string]string{
		"raftt":        `did you mean "raft"?`,
		"rfat":         `did you mean "raft"?`,
		"raft-pervote": `did you mean "raft-prevote"?`,
		"etc":          `did you mean "etcd"?`,
		"raft-prev":    `did you mean "raft-prevote"?`,
		"zookeeper":    "known: etcd, raft, raft-prevote",
		"":             "known: etcd, raft, raft-prevote",
	} {
		err := fmt.Errorf("run: %w", Unknown("target", name, known))
		require.EqualError(t, err, fmt.Sprintf("run: unknown target %q", name))
		require.Equal(t, want, Of(err), name)
	}
}

func TestTheOutermostHintCounts(t *testing.T) {
	err := Add(fmt.Errorf("outer: %w", Add(errors.New("inner"), "first")), "second %d", 2)
	require.EqualError(t, err, "outer: inner")
	require.Equal(t, "second 2", Of(err))
	require.Empty(t, Of(errors.New("bare")))
}

func TestHintsOfFilesSpeakOfFields(t *testing.T) {
	for want, h := range map[string]error{
		"add on: docker; or on: virtual, where it is all Go": Add(errors.New("wrong"), "add %v; or %v, where it is all Go", Set("on", "docker"), Set("on", "virtual")),
		"leave on away":               Add(errors.New("wrong"), "leave %v away", Named("on")),
		"take nodes: 4 or more":       Add(errors.New("wrong"), "take %v or more", Set("nodes", 4)),
		"name another option version": Add(errors.New("wrong"), "name another %v", Set("opt", "version")),
		"take time: 2m0s":             Or(errors.New("wrong"), Add(errors.New("inner"), "take %v", Set("time", 2*time.Minute)), "nothing"),
		"recount run --on docker":     Add(errors.New("wrong"), "recount run --on docker"),
		`did you mean "raft"?`:        Add(errors.New("wrong"), "did you mean %q?", "raft"),
		"nothing":                     Or(errors.New("wrong"), errors.New("bare"), "nothing"),
	} {
		err := InFile(fmt.Errorf("suite: %w", h))
		require.EqualError(t, err, "suite: wrong")
		require.Equal(t, want, Of(err))
	}
	require.Equal(t, "take --nodes 4 of --opt version, --on", Of(Add(errors.New("wrong"), "take %v of %v, %v", Set("nodes", 4), Set("opt", "version"), Named("on"))))
	require.Empty(t, Of(InFile(errors.New("bare"))))
}
