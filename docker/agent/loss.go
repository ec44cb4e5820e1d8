//go:build linux

package agent

import "recount/history"

// loss drops packets at random: the kernel throws the dice.
type loss struct{ selection }

func (l *loss) part(s history.LinkState) history.LinkState {
	return history.LinkState{Loss: rough(s.Loss)}
}

func (l *loss) install(f *filter) error {
	l.name, l.chance = "loss", func(s history.LinkState) float64 { return s.Loss }
	return l.selection.install(f, input, anything, drop)
}

func (l *loss) read(f *filter) (states, error) {
	return l.states(f, func(p float64) history.LinkState { return history.LinkState{Loss: p} })
}
