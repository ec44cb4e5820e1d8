package nemesis

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"recount/history"
	"recount/internal/option"
)

// crash-within ends a node's process in the middle of what it does: between a message that it has sent and a word to its disk, or
// between two messages to two others.
func init() {
	register(&Fault{
		Name:   "crash-within",
		About:  "a node's process ends in the middle of what it does, and is started again",
		Aims:   []Aim{{"the node", "one"}},
		Disks:  true,
		Events: true,
		Blind:  true,
		Options: []option.Option{
			{
				Name: "on", Kind: option.Choice, Default: string(history.Receives),
				Choices: []string{string(history.Receives), string(history.Sends), string(history.Leads), string(history.Rises)},
				About:   "what it is in the middle of: what follows from a message that it gets, or that it has sent, or from its beginning to lead, or from another term",
			},
			kind, nth,
			{
				Name: "effects", Kind: option.Choice, Default: "1", Choices: strings.Split("0 1 2 3 4 5 6 7 8 9", " "),
				About: "how many messages it still sends, and words with its disk it still has",
			},
			{Name: "machine", Kind: option.Bool, Default: "true", About: "its machine dies, and with it what was not synced"},
			{
				Name: "count", Kind: option.Choice, Default: "1", Choices: strings.Split("1 2 3 4 5 6 7 8 9", " "),
				About: "how often, when the node has come back each time",
			},
			{Name: "down", Kind: option.Wait, Default: "100ms", About: "how long it is down"},
		},
		Draw: func(hold time.Duration, rnd *rand.Rand) map[string]string {
			return map[string]string{
				"on": []string{"receive", "receive", "send", "lead", "term"}[rnd.IntN(5)], "nth": few(rnd),
				"effects": strconv.Itoa(rnd.IntN(5)), "machine": strconv.FormatBool(rnd.IntN(3) > 0),
				"down": drawDuration(hold/100, hold/2, rnd), "count": strconv.Itoa(1 + rnd.IntN(2)*rnd.IntN(4)),
			}
		},
		Shape: func(s Scene) Shape {
			t := s.trap(history.Finish)
			t.On, t.Crash = history.TrapOn(s.Options.Value("on")), s.Options.Bool("machine")
			t.Effect = int(s.Options.Value("effects")[0] - '0')
			// It lasts until the trap springs; then what that has done, and then nothing.
			var sh Shape
			for range s.Options.Value("count")[0] - '0' {
				sh.Phases = append(sh.Phases, Phase{Changes: s.lay(t), Sprung: true}, Phase{For: s.Options.Duration("down")})
			}
			sh.Phases = append(sh.Phases, Phase{})
			return sh
		},
	})
}
