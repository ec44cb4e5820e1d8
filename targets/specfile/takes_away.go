package specfile

import (
	"maps"
	"slices"

	"recount/history"
	"recount/internal/hint"
	"recount/targets"
)

// What takes a promise away, for good or for as long as it lasts: faults under which what it rests on does not hold.

// takesAway reports whether something that the nemesis did takes an assumption away.
type takesAway = func(did history.Changes) bool

// awayWords are the words for what faults do to links, nodes and disks.
var awayWords = map[string]map[string]takesAway{
	"links": {"broken": targets.BreaksLinks, "one-way": targets.CutsOneWay, "slow": targets.SlowsLinks},
	"nodes": {
		"paused": targets.Pauses, "slow": targets.Throttles,
		"killed": targets.Kills, "crashed": targets.Crashes, "stopped": targets.Stops,
	},
	"disks": {"forget": targets.Forgets, "refuse": targets.RefusesWrites, "slow": targets.SlowsDisks},
}

// readTakesAway reads what takes a promise away: {drift: 10%, jump: 1s, links: [slow], nodes: [paused], disks: [forget], own: [stuck]}, the
// last of the file's own.
func readTakesAway(field string, v value, own []string) (takesAway, error) {
	f, err := v.fields("drift", "jump", "links", "nodes", "disks", "own")
	if err != nil {
		return nil, err
	}
	var takesIt []takesAway
	if d, ok := f["drift"]; ok {
		share, err := d.share()
		if err != nil {
			return nil, err
		}
		takesIt = append(takesIt, func(did history.Changes) bool { return targets.DriftsMore(did, share) })
	}
	if j, ok := f["jump"]; ok {
		far, err := j.duration()
		if err != nil {
			return nil, err
		}
		takesIt = append(takesIt, func(did history.Changes) bool { return targets.JumpsFarther(did, far) })
	}
	if o, ok := f["own"]; ok {
		for _, one := range o.list() {
			name, err := one.text()
			if err != nil {
				return nil, err
			}
			if !slices.Contains(own, name) {
				return nil, &fault{one.Line, one.Column, hint.Unknown("fault of the file's own", name, own)}
			}
			takesIt = append(takesIt, func(did history.Changes) bool {
				return slices.ContainsFunc(did.Owns(), func(f history.Own) bool { return f.On && f.Fault == name })
			})
		}
	}
	for _, of := range []string{"links", "nodes", "disks"} {
		l, ok := f[of]
		if !ok {
			continue
		}
		for _, one := range l.list() {
			word, err := one.text()
			if err != nil {
				return nil, err
			}
			takes := awayWords[of][word]
			if takes == nil {
				return nil, &fault{one.Line, one.Column, hint.Unknown("word for "+of, word, slices.Collect(maps.Keys(awayWords[of])))}
			}
			takesIt = append(takesIt, takes)
		}
	}
	if len(takesIt) == 0 {
		return nil, v.bad(field+": {drift: 10%}", "%s: nothing is named that takes the promise away", field)
	}
	return func(did history.Changes) bool {
		return slices.ContainsFunc(takesIt, func(takes takesAway) bool { return takes(did) })
	}, nil
}
