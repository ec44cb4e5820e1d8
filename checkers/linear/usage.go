package linear

import "encoding/binary"

// usages are how many of the operations of unknown outcome configurations may have used, of each kind. Each has a
// number; that of the empty one is 0.
type usages struct {
	all   []string // pairs of a kind and a count, eight bytes each, in the order of kinds
	known map[string]int32
	bytes int64
	after map[spending]int32 // one more of a kind
}

// spending is a usage and a kind that one more is spent of.
type spending struct{ usage, kind int32 }

func newUsages() usages {
	return usages{all: []string{""}, known: map[string]int32{"": 0}, after: map[spending]int32{}}
}

const entry = 8 // bytes of a pair

func pair(p string, k int) (kind, count uint32) {
	b := []byte(p[k : k+entry])
	return binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
}

// spent returns how many of a kind a usage has.
func (p *usages) spent(usage, kind int32) uint32 {
	s := p.all[usage]
	for k := 0; k < len(s); k += entry {
		if of, count := pair(s, k); of == uint32(kind) {
			return count
		}
	}
	return 0
}

// spend returns the usage after one more of a kind.
func (p *usages) spend(usage, kind int32) int32 {
	if id, known := p.after[spending{usage, kind}]; known {
		return id
	}
	s := p.all[usage]
	k := 0
	for k < len(s) {
		if of, _ := pair(s, k); of >= uint32(kind) {
			break
		}
		k += entry
	}
	b := append(make([]byte, 0, len(s)+entry), s[:k]...)
	count := uint32(1)
	if k < len(s) {
		if of, n := pair(s, k); of == uint32(kind) {
			count += n
			k += entry
		}
	}
	b = binary.BigEndian.AppendUint32(b, uint32(kind))
	b = binary.BigEndian.AppendUint32(b, count)
	b = append(b, s[k:]...)
	id, known := p.known[string(b)]
	if !known {
		id = int32(len(p.all))
		p.all = append(p.all, string(b))
		p.known[string(b)] = id
		p.bytes += int64(2*len(b)) + usageCost
	}
	p.after[spending{usage, kind}] = id
	p.bytes += spendingCost
	return id
}

// within reports whether one usage has spent no more of anything than another.
func (p *usages) within(a, b int32) bool {
	if a == b {
		return true
	}
	s, t := p.all[a], p.all[b]
	if len(s) > len(t) {
		return false
	}
	j := 0
	for i := 0; i < len(s); i += entry {
		kind, count := pair(s, i)
		for {
			if j == len(t) {
				return false
			}
			of, n := pair(t, j)
			j += entry
			if of == kind {
				if count > n {
					return false
				}
				break
			}
			if of > kind {
				return false
			}
		}
	}
	return true
}

// About how many bytes a usage takes besides what is in it, and a way from one to another.
const (
	usageCost    = 160
	spendingCost = 40
)
