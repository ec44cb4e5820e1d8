package specfile

import (
	"strconv"

	"recount/targets"
)

// readSize reads how many nodes a cluster has where nobody says.
func (s *Spec) readSize(_ value, f map[string]value) error {
	v, ok := f["nodes"]
	if !ok {
		return nil
	}
	text, err := v.text()
	if err != nil {
		return err
	}
	if s.Size, err = strconv.Atoi(text); err != nil || s.Size < 2 || s.Size > targets.MaxNodes {
		return v.bad("nodes: 3, where a pair needs a witness beside it", "nodes: %q is no size of a cluster: that is a number from 2 to %d", text, targets.MaxNodes)
	}
	return nil
}
