package nemesis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"recount/history"
)

// Pace is how a random schedule is to go.
type Pace struct {
	Within  time.Duration // all has healed by then
	Gap     time.Duration // between the starts of two faults, on average
	Hold    time.Duration // how long a fault holds, on average
	Silence time.Duration // of a leader, that the target bears; 0 to time no fault by it
	Mute    bool          // nodes tell of no votes, so that nothing may wait for one
	Own     []string      // names of the target's own faults; some, if one of these is to be drawn
	Blind   bool          // nobody knows what messages mean, nor what nodes have just become

	Diskless bool // nodes have no disk, and servers beside them do: it is those that faults of disks are of
}

// Generate draws a schedule from the named faults. Holds and gaps vary between a fifth and twice their average, so
// faults overlap now and then; half of the aims are at the leader. Some faults hold for about as long as the target
// bears silence, and some wait for a vote or an election: it is there that elections break. They never all wait.
func Generate(faults []string, p Pace, rnd *rand.Rand) (Schedule, error) {
	var from []*Fault
	for _, name := range faults {
		f, err := Find(name)
		if err != nil {
			return nil, err
		}
		from = append(from, f)
	}
	if len(from) == 0 {
		return nil, nil
	}
	vary := func(d time.Duration) time.Duration {
		return (d/5 + time.Duration(rnd.Int64N(int64(d)*9/5+1))).Round(time.Millisecond)
	}
	heard := cues
	if p.Mute {
		heard = slices.DeleteFunc(slices.Clone(cues), func(c cueWord) bool { return c.cue == Voted })
	}
	var s Schedule
	for at := vary(p.Gap); ; at += vary(p.Gap) {
		f := from[rnd.IntN(len(from))]
		st := Step{At: at, Fault: f.Name, For: vary(p.Hold)}
		if p.Silence > 0 && rnd.IntN(6) == 0 {
			st.For = times(Brinks[rnd.IntN(len(Brinks))], p.Silence)
		}
		if rnd.IntN(6) == 0 {
			st.After = heard[rnd.IntN(len(heard))].cue
			if rnd.IntN(2) == 0 {
				st.Wait = times(Brinks[rnd.IntN(len(Brinks))], p.Silence)
			}
		}
		if (Schedule{st}).End() > p.Within {
			return unwaiting(s), nil
		}
		for i, a := range f.Aims {
			w := a.Default
			switch {
			case w == "":
				continue
			case f.Disks && p.Diskless:
				w = "server"
			case f.Asks, !slices.Contains([]string{"leader", "follower", "one"}, w):
			case i == 0:
				w = [...]string{"leader", "leader", "follower", "one"}[rnd.IntN(4)]
			default:
				w = "one"
			}
			st.Nodes = append(st.Nodes, w)
		}
		if f.Draw != nil {
			st.With = f.Draw(p.Hold, rnd)
		}
		if f.Own {
			st.With = map[string]string{ownName: p.Own[rnd.IntN(len(p.Own))]}
		}
		if on, has := st.With["on"]; has && f.Events && p.Blind && on != string(history.Sends) {
			st.With["on"] = string(history.Receives)
		}
		s = append(s, st)
	}
}

// unwaiting has the first step begin at its time where all would wait: what they wait for might never happen.
func unwaiting(s Schedule) Schedule {
	if len(s) > 0 && !slices.ContainsFunc(s, func(st Step) bool { return st.After == "" }) {
		s[0].After, s[0].Wait = "", 0
	}
	return s
}

// Brinks are the multiples of a target's silence around which its timers race each other.
var Brinks = []float64{0.9, 1, 1.1}

// What follows draws options, small ones as often as large ones.

func drawDuration(from, to time.Duration, rnd *rand.Rand) string {
	return drawAtLeast(time.Millisecond/10, from, to, rnd)
}

// drawPeriod draws how long a phase lasts of what goes to and fro until it heals: one that is too short to matter would cost a run
// most of its time.
func drawPeriod(from, to time.Duration, rnd *rand.Rand) string {
	return drawAtLeast(time.Millisecond, from, to, rnd)
}

func drawAtLeast(least, from, to time.Duration, rnd *rand.Rand) string {
	return max(least, time.Duration(drawNumber(float64(from), float64(to), rnd)).Round(time.Millisecond/10)).String()
}

func drawPercent(from, to float64, rnd *rand.Rand) string {
	return fmt.Sprintf("%.1f%%", drawNumber(from, to, rnd))
}

// drawNumber draws its logarithm evenly.
func drawNumber(from, to float64, rnd *rand.Rand) float64 {
	return from * math.Exp(rnd.Float64()*math.Log(to/from))
}
