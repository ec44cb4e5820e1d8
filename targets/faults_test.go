package targets

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"recount/history"
)

func TestATermIsStoredBeforeTheEndUnlessSomethingIsSlowOrFull(t *testing.T) {
	killed := history.Proc{Node: "n1", State: history.Down}
	died := history.Proc{Node: "n1", State: history.Crashed}
	slow := history.Disk{Node: "n2", DiskState: history.DiskState{Slow: time.Second}}
	squeezed := history.Memory{Node: "n1", Bytes: 1 << 20}
	within := history.Trap{Node: "n1", TrapState: history.TrapState{Do: history.Finish, On: history.Receives}}
	full := history.Disk{Node: "n1", DiskState: history.DiskState{Full: true}} // a server ends by itself over what it cannot store
	for _, is := range [][]history.State{{killed, slow}, {died, slow}, {died, history.CPU{Node: "n1", Share: 0.05}}, {squeezed}, {full}, {within}} {
		require.True(t, StoresTerm.Unless(history.ChangesOf(is...)), "%+v", is)
	}
	for _, is := range [][]history.State{
		{killed}, {died}, {slow}, {history.CPU{Node: "n1", Share: 0.05}}, {history.Proc{Node: "n1", State: history.Paused}, slow},
		{killed, history.Disk{Node: "n2"}}, {history.Trap{Node: "n1", TrapState: history.TrapState{Do: history.Lose}}}, {killed, history.CPU{Node: "n1"}},
	} {
		require.False(t, StoresTerm.Unless(history.ChangesOf(is...)), "%+v", is)
	}
}
