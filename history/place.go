package history

import "slices"

// Place returns where a name stands in a list of nodes, or -1. It is asked for with every op, and nodes are mostly called n1, n2
// and so on, or redis-0, redis-1: then the number at the end of the name tells, and there is nothing to be searched.
func Place(nodes []string, name string) int {
	number, digit := 0, 1
	for i := len(name) - 1; i >= 0 && '0' <= name[i] && name[i] <= '9' && number <= MaxNodes; i-- {
		number += digit * int(name[i]-'0')
		digit *= 10
	}
	for _, at := range [...]int{number - 1, number} {
		if 0 <= at && at < len(nodes) && nodes[at] == name {
			return at
		}
	}
	return slices.Index(nodes, name)
}
