package nats

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/targets/systems/systemtest"
)

// numbers are in the order in which raft's messages have them.
func numbers(all ...any) (b []byte) {
	for _, v := range all {
		switch v := v.(type) {
		case int:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case string:
			b = append(b, v...)
		}
	}
	return b
}

func TestRoutesAreRead(t *testing.T) {
	message := func(head string, body []byte) string { return fmt.Sprintf("%s %d\r\n%s\r\n", head, len(body), body) }
	talk := "INFO {\"server_id\": \"X\"}\r\nCONNECT {}\r\nRS+ $SYS foo\r\nPING\r\n" +
		message("RMSG $SYS $NRG.V._meta_ $NRG.R.abc", numbers(7, 6, 40, natsN1)) +
		message("RMSG $NRG.V._meta_ $NRG.R.abc", numbers(8, 6, 40, natsN1)) + // a route of one account
		message("RMSG $SYS $NRG.R.abc", numbers(7, natsN2, "\x01")) +
		message("RMSG $SYS $NRG.R.abc", numbers(7, natsN2, "\x02")) +
		message("RMSG $SYS $NRG.AE._meta_ $NRG.R.def", numbers(natsN1, 7, 40, 6, 41, "\x00\x00", "\x00")) +
		message("RMSG $SYS $NRG.AE._meta_ $NRG.R.def", numbers(natsN1, 7, 40, 6, 41, "\x01\x00", "RMSG x 99\r\n")) +
		message("RMSG $SYS $NRG.R.def", numbers(7, 41, natsN2, "\x01")) +
		message("RMSG $SYS $NRG.R.def", numbers(9, 41, natsN2, "\x00")) +
		message("HMSG $SYS $SYS.SERVER.PING 12", []byte("NATS/1.0\r\n\r\n")) + "PONG\r\n"
	want := []election.Said{
		{Kind: "info"}, {Kind: "connect"}, {Kind: "subscribe"}, {Kind: "ping"}, {Kind: "vote request", Term: 7}, {Kind: "vote request", Term: 8},
		{Kind: "vote granted", Term: 7}, {Kind: "vote refused", Term: 7}, {Kind: "heartbeat", Term: 7}, {Kind: "append", Term: 7},
		{Kind: "append reply", Term: 7}, {Kind: "append refused", Term: 9}, {Kind: "message"}, {Kind: "pong"},
	}
	y := systemtest.System(t, "nats", nil).(election.Decoder)
	for cut := 1; cut <= len(talk); cut++ { // anyhow cut up it says the same
		read, _ := y.Decode(routePort)
		var got []election.Said
		for at := 0; at < len(talk); at += cut {
			got = append(got, read([]byte(talk[at:min(at+cut, len(talk))]))...)
		}
		require.Equal(t, want, got, cut)
	}
}

func TestWhatIsNoRouteIsNotGuessedAt(t *testing.T) {
	y := systemtest.System(t, "nats", nil).(election.Decoder)
	asked, answered := y.Decode(clientPort)
	require.Nil(t, asked)
	require.Nil(t, answered)
	for _, what := range []string{"\x16\x03\x01\x02\x00 TLS\r\n", "RMSG $SYS $NRG.V.x many\r\n", "\r\n"} {
		read, _ := y.Decode(routePort)
		require.Equal(t, []election.Said{{Kind: "ping"}}, read([]byte("PING\r\n"+what)))
		require.Empty(t, read([]byte("PING\r\n")), "after what nobody can read")
	}
	read, _ := y.Decode(routePort)
	require.Equal(t, []election.Said{{Kind: "message"}}, read([]byte("RMSG $SYS $NRG.V.x 3\r\nabc\r\n")), "a vote request that is too short for one")
}
