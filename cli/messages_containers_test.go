package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/record"
)

func TestWhatServersSayToEachOtherIsReadOnContainers(t *testing.T) {
	for _, target := range []string{"etcd", "nats"} {
		t.Run(target, func(t *testing.T) {
			shows(t, func(r *result) string {
				kinds, terms, lost, unread := map[string]int{}, map[uint64]bool{}, 0, 0
				require.NoError(t, record.EachMessage(os.DirFS(r.Run), func(m *record.Message) {
					switch {
					case m.Of != nil:
						if m.Of.Unread != "" { // such as of a connection that was there before the copies were
							unread++
						}
						return
					case m.Lost != "":
						require.Contains(t, m.Lost, "seen to leave")
						lost++
					}
					require.GreaterOrEqual(t, m.Arrived, m.Sent)
					kinds[m.Kind]++
					if strings.HasPrefix(m.Kind, "heartbeat") || strings.HasPrefix(m.Kind, "vote") {
						terms[m.Term] = true
					}
				}))
				require.NotContains(t, terms, uint64(0))
				for _, kind := range []string{"heartbeat", "vote request", "vote granted"} {
					if kinds[kind] == 0 {
						return fmt.Sprintf("a %s, but %v", kind, kinds)
					}
				}
				if kinds["heartbeat"] <= unread {
					return fmt.Sprintf("more heartbeats than seconds of what could not be read: %v, %d", kinds, unread)
				}
				if lost == 0 {
					return "what was lost while one was isolated"
				}
				return ""
			}, "--target", target, "--nodes", "3", "--nemesis", "isolate", "--time", "15s", "--seed", "1")
		})
	}
}
