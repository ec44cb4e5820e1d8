package record

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A path that is not UTF-8 is written otherwise than it is read back, and nobody has edited it for that.
func TestAPlansHashOutlivesItsFile(t *testing.T) {
	p := Plan{Target: "r\xffaft.yaml", Options: map[string]string{"a\xff": "b", "c": "\xfe"}, Nodes: 3}
	b, err := json.Marshal(p)
	require.NoError(t, err)
	var read Plan
	require.NoError(t, json.Unmarshal(b, &read))
	require.Equal(t, p.Hash(), read.Hash())
	read.Nodes++
	require.NotEqual(t, p.Hash(), read.Hash())
}
