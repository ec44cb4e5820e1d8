package virtual

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// What panics among the clients, be it on a goroutine of its own, panics where they are asked, with its own words and stack; the others go on to
// work, and they can be ended all the same.
func TestAPanicAmongTheClientsIsHandedOver(t *testing.T) {
	for name, called := range map[string]func(k *clients, f func()) func(){
		"in the bubble": func(_ *clients, f func()) func() { return f },
		"hired":         func(k *clients, f func()) func() { return func() { k.hire(f) } },
	} {
		t.Run(name, func(t *testing.T) {
			k := newClients(&Cluster{})
			func() {
				defer func() {
					p, _ := recover().(string)
					require.Contains(t, p, "oops, among the clients")
					require.Contains(t, p, "clients_test.go")
				}()
				k.enter(called(k, func() { panic("oops") }))
			}()
			worked := false
			k.enter(called(k, func() { worked = true }))
			require.True(t, worked)
			k.close()
		})
	}
}

// A client that dials again when its connection ends does not wait for ever when all is closed: it would keep the whole cluster in memory.
func TestClientsThatDialAgainEnd(t *testing.T) {
	c, err := Open(Config{Nodes: []string{"n1"}, Dir: t.TempDir()})
	require.NoError(t, err)
	ended := make(chan error, 2)
	c.Inside(func() {
		go func() {
			for range cap(ended) {
				_, err := c.Dial(context.Background(), "n1", 80) // not one that is closed outside of the bubble
				ended <- err
			}
		}()
	})
	require.NoError(t, c.Close(t.Context()))
	require.Len(t, ended, cap(ended))
	for range cap(ended) {
		require.ErrorIs(t, <-ended, errClosed)
	}
}

// A client that waits for ever is left behind when all is closed.
func TestClientsThatWaitForEverAreLeft(t *testing.T) {
	k := newClients(&Cluster{})
	k.enter(func() { go func() { <-make(chan struct{}) }() })
	k.close()
}
