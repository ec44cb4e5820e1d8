package specfile

import "strconv"

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
	const most = 99 // harness.MaxNodes
	if s.Size, err = strconv.Atoi(text); err != nil || s.Size < 2 || s.Size > most {
		return v.bad("nodes: 3, where a pair needs a witness beside it", "nodes: %q is no size of a cluster: that is a number from 2 to %d", text, most)
	}
	return nil
}
