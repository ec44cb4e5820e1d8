package hint

import (
	"errors"
	"fmt"
	"testing"

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
	for said, want := range map[string]string{
		"add --on docker; or --on virtual, where it is all Go":           "add on: docker; or on: virtual, where it is all Go",
		"the simulator runs algorithms in virtual time: leave --on away": "the simulator runs algorithms in virtual time: leave on away",
		"take --nodes 4 or more":                                         "take nodes: 4 or more",
		"--time 2m0s is long enough for at least one":                    "time: 2m0s is long enough for at least one",
		"add --on docker, or name another --opt version":                 "add on: docker, or name another option version",
		"recount run --target mine.yaml --on docker":                     "recount run --target mine.yaml --on docker",
		`did you mean "raft"?`:                                           `did you mean "raft"?`,
	} {
		err := InFile(fmt.Errorf("suite: %w", Add(errors.New("wrong"), "%s", said)))
		require.EqualError(t, err, "suite: wrong")
		require.Equal(t, want, Of(err))
	}
	require.Empty(t, Of(InFile(errors.New("bare"))))
}
