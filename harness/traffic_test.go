package harness

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/docker/agent"
	"recount/harness/record"
	"recount/history"
)

func TestCountsBecomeMessages(t *testing.T) {
	var got []record.Message
	c := &traffic{nodes: []string{"n1", "n2"}, keep: func(m *record.Message) { got = append(got, *m) }}
	look := func(at time.Duration, all ...agent.Traffic) []record.Message {
		got = nil
		c.count(at, all)
		return got
	}
	there := func(left, came uint64, link history.LinkState, conns ...agent.Connection) agent.Traffic {
		return agent.Traffic{From: "n1", To: "n2", Left: agent.Count{Packets: left / 100, Bytes: left}, Came: agent.Count{Packets: came / 100, Bytes: came}, Link: link, Connections: conns}
	}
	back := agent.Traffic{From: "n2", To: "n1"}
	old, young := agent.Connection{Local: 40000, Port: 2380}, agent.Connection{Local: 40001, Port: 2380}

	require.Empty(t, look(time.Second, there(1000, 1000, history.LinkState{}, old), back), "nobody knows since when")
	require.Equal(t, []record.Message{{
		From: "n1", To: "n2", Sent: time.Second, Arrived: 2 * time.Second, Bytes: 500,
		Words: "500 bytes sent in 5 packets, all arrived; 2 connections to port 2380, 1 of them new",
		Of:    &record.Traffic{Packets: 5, PacketsArrived: 5, BytesArrived: 500, Connections: []record.Connections{{Port: 2380, Open: 2, Opened: 1}}},
	}}, look(2*time.Second, back, there(1500, 1500, history.LinkState{}, old, young)))
	require.Empty(t, look(3*time.Second, there(1500, 1500, history.LinkState{}, old, young), back), "silence")

	lost := look(4*time.Second, there(1700, 1500, history.LinkState{Cut: true}, old), back)
	require.Equal(t, "200 bytes sent in 2 packets, none arrived; 1 connection to port 2380, 1 closed", lost[0].Words)
	require.Equal(t, "the link is cut", lost[0].Lost)
	some := look(5*time.Second, there(2700, 2000, history.LinkState{Loss: 0.5}, old), back)
	require.Contains(t, some[0].Words, "1000 bytes sent in 10 packets, 500 bytes arrived")
	require.Empty(t, some[0].Lost, "not all of it")
	require.Empty(t, look(6*time.Second, there(2900, 2000, history.LinkState{}, old), back)[0].Lost, "no fault is to blame")
	require.Equal(t, "the link is 50ms ± 0s late", look(7*time.Second, there(3000, 2100, history.LinkState{Delay: 50 * time.Millisecond}, old), back)[0].Late)
}
