package checkers

import (
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"recount/history"
)

// TestSizeCounts adds many ops of what is kept of a long history: the size must grow with them.
func TestSizeCounts(t *testing.T) {
	const many = 10_000
	nodes := history.Op{Process: history.Harness, F: history.Begin, Type: history.OK, Setup: &history.Setup{Nodes: []string{"n1"}}}
	put := func(k int, kind history.Type) history.Op {
		return history.Op{
			Process: 1, Type: kind, F: history.Put, Node: "n1", Time: time.Duration(k) * time.Second,
			Reg: &history.Register{Key: "x", Value: strconv.Itoa(k)},
		}
	}
	for name, ops := range map[string][]history.Op{
		"held back while a fault begins": {{Process: history.Nemesis, Type: history.Invoke, F: history.Inject, Fault: &history.Fault{Name: "pause"}}},
		"writes of unknown outcome":      nil,
	} {
		j := BeginSome([]string{"progress"})
		index := 0
		add := func(op history.Op) {
			op.Index = index
			index++
			j.Add(&op)
		}
		add(nodes)
		for _, op := range ops {
			add(op)
		}
		before := j.Size()
		for k := range many {
			add(put(k, history.Invoke))
			add(put(k, history.Info))
		}
		require.Greater(t, j.Size()-before, int64(many*32), name)
	}
}

// TestSizes makes one thing after the other larger, whose room counts.
func TestSizes(t *testing.T) {
	const many = 100
	watcher := func(j *Judging, property string) watcher {
		for i, c := range j.by {
			if c.Property == property {
				return j.watchers[i]
			}
		}
		return nil
	}
	for name, grow := range map[string]func(j *Judging) (want uintptr){
		"answers":   func(j *Judging) uintptr { j.answers = widened(j.answers, many); return unsafe.Sizeof(answer{}) },
		"leads":     func(j *Judging) uintptr { j.leads = widened(j.leads, many); return unsafe.Sizeof(leadership{}) },
		"heights":   func(j *Judging) uintptr { j.heights = widened(j.heights, many); return unsafe.Sizeof(height{}) },
		"actions":   func(j *Judging) uintptr { j.actions = widened(j.actions, many); return unsafe.Sizeof(action{}) },
		"divisions": func(j *Judging) uintptr { j.divisions = widened(j.divisions, many); return unsafe.Sizeof(division{}) },
		"epochs": func(j *Judging) uintptr {
			j.world.epochs = widened(j.world.epochs, many)
			return unsafe.Sizeof(epoch{})
		},
		"held": func(j *Judging) uintptr { j.held = widened(j.held, many); return unsafe.Sizeof(history.Op{}) },
		"accesses": func(j *Judging) uintptr {
			a := watcher(j, "fencing").(*accesses)
			a.uses = widened(a.uses, many)
			return 2 * unsafe.Sizeof(access{})
		},
		"tokens": func(j *Judging) uintptr {
			for k := range uint64(many) {
				watcher(j, "fencing").(*accesses).tokened.of(k)
			}
			return unsafe.Sizeof(token{}) + 32
		},
		"uses": func(j *Judging) uintptr {
			u := watcher(j, "linearizable").(*uses)
			u.all = widened(u.all, many)
			return 2 * unsafe.Sizeof(use{})
		},
		"writes under way": func(j *Judging) uintptr {
			for k := range many {
				watcher(j, "progress").(*progress).under[k] = &attempt{}
			}
			return unsafe.Sizeof(attempt{}) + 16
		},
		"values that were written": func(j *Judging) uintptr {
			for k := range many {
				watcher(j, "progress").(*progress).values[held{value: strconv.Itoa(k)}] = nil
			}
			return unsafe.Sizeof(held{}) + unsafe.Sizeof([]*attempt{}) + 16
		},
		"writes that were tried": func(j *Judging) uintptr {
			w := watcher(j, "progress").(*progress).of("n1")
			w.tries = make([]*attempt, many)
			return unsafe.Sizeof(&attempt{}) + unsafe.Sizeof(attempt{})
		},
		"times in which writes got through": func(j *Judging) uintptr {
			w := watcher(j, "progress").(*progress).of("n1")
			w.took = widened(w.took, many)
			return unsafe.Sizeof(span{})
		},
		"senders": func(j *Judging) uintptr {
			u := watcher(j, "ordered-updates").(*updates)
			u.senders.chunks = [][]stretch{make([]stretch, many)}
			return unsafe.Sizeof(stretch{})
		},
		"first updates": func(j *Judging) uintptr {
			for k := range uint64(many) {
				watcher(j, "ordered-updates").(*updates).firsts[number{counter: k}] = applied{}
			}
			return unsafe.Sizeof(number{}) + unsafe.Sizeof(applied{}) + 16
		},
		"votes": func(j *Judging) uintptr {
			v := watcher(j, "vote-once").(*votes)
			v.voters = map[string]bool{"n1": true, "n2": true}
			for k := range uint64(many) {
				v.terms.of(k)
			}
			return unsafe.Sizeof([]vote{}) + 2*unsafe.Sizeof(vote{}) + 32
		},
		"terms": func(j *Judging) uintptr {
			for k := range uint64(many) {
				watcher(j, "elects").(*elections).first.of(k)
			}
			return unsafe.Sizeof(favourite{}) + 32
		},
		"split votes": func(j *Judging) uintptr {
			for k := range uint64(many) {
				watcher(j, "elects").(*elections).split[k] = 1
			}
			return 32
		},
	} {
		j := Begin()
		before := j.Size()
		require.EqualValues(t, grow(j)*many, j.Size()-before, name)
	}
}

// widened is a slice with room for so many more.
func widened[T any](all []T, by int) []T { return make([]T, 0, cap(all)+by) }
