package history

// The marks in a run, of the harness.
const (
	Settle F = "settle" // ok: the cluster has had the time to elect its first leader; schedules count from here
	End    F = "end"    // ok: the last op of a run that was not cut short; info: nobody knows whether it was
)

func init() {
	register(kind{name: Settle, alone: happened})
	register(kind{name: End, alone: []Type{OK, Fail, Info}})
}

// Complete reports whether the run reached its end: a history without End was cut short.
func (h *History) Complete() bool { return h.Frame().Complete() }

// Doubtful reports whether nobody knows if the history is whole, and why.
func (h *History) Doubtful() (why string, doubtful bool) { return h.Frame().Doubtful() }
