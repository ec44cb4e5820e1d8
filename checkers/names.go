package checkers

// names are few words that are said often, each with a number; that of "" is 0.
type names struct {
	all    []string
	number map[string]int32
}

func newNames() names { return names{[]string{""}, map[string]int32{"": 0}} }

// of returns the number of a word.
func (n *names) of(word string) int32 {
	k, known := n.number[word]
	if !known {
		k = int32(len(n.all))
		n.all, n.number[word] = append(n.all, word), k
	}
	return k
}
