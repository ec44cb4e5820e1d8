package virtual

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What panics among the clients panics where they are asked, with its own words and stack, and they can be ended all the same.
func TestAPanicAmongTheClientsIsHandedOver(t *testing.T) {
	k := newClients(&Cluster{})
	func() {
		defer func() {
			p, _ := recover().(string)
			require.Contains(t, p, "oops, among the clients")
			require.Contains(t, p, "clients_test.go")
		}()
		k.enter(func() { panic("oops") })
	}()
	asked := false
	k.enter(func() { asked = true })
	require.True(t, asked)
	k.close()
}

// What panics on a goroutine of its own panics where time goes on for the clients, and the others go on to work.
func TestAPanicOfAHiredClientIsHandedOver(t *testing.T) {
	k := newClients(&Cluster{})
	func() {
		defer func() {
			p, _ := recover().(string)
			require.Contains(t, p, "oops, among the clients")
			require.Contains(t, p, "clients_test.go")
		}()
		k.enter(func() { k.hire(func() { panic("oops") }) })
	}()
	worked := false
	k.enter(func() { k.hire(func() { worked = true }) })
	require.True(t, worked)
	k.close()
}

// A client that waits for ever is left behind when all is closed.
func TestClientsThatWaitForEverAreLeft(t *testing.T) {
	k := newClients(&Cluster{})
	k.enter(func() { go func() { <-make(chan struct{}) }() })
	k.close()
}
