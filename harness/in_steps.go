package harness

import "recount/history"

// A cluster that carries some changes out itself leaves the rest to the one below it, and tells what became of all together.

// rest makes changes on a cluster, if there are any, and calls then with that step of the change.
func rest(c Cluster, ch history.Changes, then func(made []history.Step)) {
	if ch.Empty() {
		then(nil)
		return
	}
	c.Apply(ch, func(e history.Effect) { then([]history.Step{{Of: ch, Effect: e}}) })
}

// inTurn brings one thing after the other into a state, after steps that were made before, and calls done with what became of all.
func inTurn[S history.State](states []S, made []history.Step, bring func(S, func(history.Effect)), done func(history.Effect)) {
	if len(states) == 0 {
		done(history.InSteps(made...))
		return
	}
	bring(states[0], func(e history.Effect) {
		inTurn(states[1:], append(made, history.Step{Of: history.ChangesOf(states[0]), Effect: e}), bring, done)
	})
}
