package nemesis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"recount/history"
	"recount/internal/hint"
)

// Words stand for nodes in a schedule and are looked up when a step fires: who leads is not known before.
var words = []struct{ word, about string }{
	{"leader", "the node that was last seen to lead, in the highest term"},
	{"old-leader", "the one that led before, also while it stands still"},
	{"next-leader", "the next one to lead: the step waits for it"},
	{"follower", "any running node but the leader and servers"},
	{"followers", "all running nodes but the leader and servers"},
	{"voter", "the node that gave another its vote last"},
	{"candidate", "the one that it voted for"},
	{"one", "any running node"},
	{"server", "any running server, where nodes elect through servers"},
	{"servers", "all running servers"},
	{"minority", "any nodes, as many as a minority has at most; of servers, where nodes elect through servers"},
	{"majority", "any nodes, as many as a majority has at least; of servers, as above"},
	{"others", "all that the step's other words do not name"},
	{"all", "every node"},
}

// Words returns the known words and what each stands for.
func Words() (list [][2]string) {
	for _, w := range words {
		list = append(list, [2]string{w.word, w.about})
	}
	return list
}

// checkWord accepts the known words, the names of nodes, and several names with commas.
func checkWord(word string, nodes []string) error {
	if names := strings.Split(word, ","); len(names) > 1 {
		for _, n := range names {
			if !slices.Contains(nodes, n) {
				return hint.Unknown("node", n, nodes)
			}
		}
		return nil
	}
	word, _, _ = strings.Cut(word, "/") // of a part of a node
	known := slices.Clone(nodes)
	for _, w := range words {
		known = append(known, w.word)
	}
	if !slices.Contains(known, word) {
		return hint.Unknown("node", word, known)
	}
	return nil
}

// nobody is why a word means no node just now. It is put into words by who gives up looking, at once: most try again.
type nobody struct {
	word  string
	views *Views
	holds history.States // no word but old-leader and all means a node that these halt, whatever it was last seen to say
}

func (n nobody) Error() string {
	text := fmt.Sprintf("no node to be %q; last seen: %s", n.word, n.views)
	var held []string
	for _, node := range n.views.nodes {
		if p, ok := n.holds.Of(history.Proc{Node: node}.Key()).(history.Proc); ok {
			held = append(held, fmt.Sprintf("%s %s", node, p.State))
		}
	}
	if len(held) > 0 {
		text += "; held by a fault: " + strings.Join(held, ", ")
	}
	return text
}

// resolve looks up the words of one step, "others" after all else. No node is used for two words, "all" excepted. led is who led
// when the step's time had come. Nodes that the nemesis holds down or paused are aimed at by name only.
func (s *Views) resolve(asked []string, led string, holds history.States, rnd *rand.Rand) ([][]string, error) {
	p := pool{Views: s, led: led, holds: holds, rand: rnd}
	aims := make([][]string, len(asked))
	for _, at := range othersLast(asked) {
		word, part, ofPart := strings.Cut(asked[at], "/")
		aim := p.aim(word)
		if len(aim) == 0 {
			return nil, nobody{word, s, holds}
		}
		if word != "all" {
			p.used = append(p.used, aim...)
		}
		if ofPart {
			aim = slices.Clone(aim)
			for i := range aim {
				aim[i] += "/" + part
			}
		}
		aims[at] = aim
	}
	return aims, nil
}

// pool is what the words of one step choose from.
type pool struct {
	*Views
	led   string
	holds history.States
	used  []string // nodes that earlier words mean
	rand  *rand.Rand
}

// aim is which nodes a word means; none if there are none just now.
func (p *pool) aim(word string) (aim []string) {
	switch word {
	case "leader":
		return p.only(p.Leader())
	case "next-leader":
		if l := p.Leader(); l != p.led {
			return p.only(l)
		}
		return nil
	case "old-leader":
		if k := len(p.chain); k > 1 && !slices.Contains(p.used, p.chain[k-2]) {
			return []string{p.chain[k-2]} // also while it is paused: that is when it is old
		}
		return nil
	case "voter":
		return p.only(p.ballot[0])
	case "candidate":
		return p.only(p.ballot[1])
	case "follower", "followers":
		if l := p.Leader(); l != "" {
			aim = slices.DeleteFunc(p.free(l), p.server)
		}
		if word == "follower" {
			aim = p.pick(aim, 1)
		}
		return aim
	case "server":
		return p.pick(p.among(p.servers), 1)
	case "servers":
		return p.among(p.servers)
	case "one":
		return p.pick(p.free(""), 1)
	case "minority":
		return p.pick(p.among(p.voters), (len(p.voters)-1)/2)
	case "majority":
		return p.pick(p.among(p.voters), len(p.voters)/2+1)
	case "others":
		return p.free("")
	case "all":
		return slices.Clone(p.nodes)
	}
	return strings.Split(word, ",")
}

// free are the nodes that a word may still mean, but for one; "" for no exception.
func (p *pool) free(but string) []string {
	return slices.DeleteFunc(slices.Clone(p.nodes), func(n string) bool {
		return n == but || halted(p.holds, n) || slices.Contains(p.used, n)
	})
}

// among are the free ones of a list.
func (p *pool) among(from []string) []string {
	return slices.DeleteFunc(p.free(""), func(n string) bool { return !slices.Contains(from, n) })
}

// only is a node, if it is free.
func (p *pool) only(n string) []string {
	if n == "" || !slices.Contains(p.free(""), n) {
		return nil
	}
	return []string{n}
}

// pick draws up to k of a list, and returns them in the order of the nodes.
func (p *pool) pick(from []string, k int) []string {
	p.rand.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
	from = from[:min(k, len(from))]
	slices.SortFunc(from, func(a, b string) int { return slices.Index(p.nodes, a) - slices.Index(p.nodes, b) })
	return from
}

// othersLast is the order in which the words of a step are looked up, as their places.
func othersLast(asked []string) (order []int) {
	var last []int
	for at := range asked {
		if isOthers(asked[at]) {
			last = append(last, at)
		} else {
			order = append(order, at)
		}
	}
	return append(order, last...)
}

// isOthers reports whether a word is "others", or a part of them.
func isOthers(word string) bool {
	word, _, _ = strings.Cut(word, "/")
	return word == "others"
}
