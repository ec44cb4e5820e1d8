package harness

import (
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/term"
)

// OnAlarm implements tellsAlarms.
func (d *driven) OnAlarm(f func(node, line string)) { d.alarm = f }

// alarms returns what takes the lines of a member's log that may be alarms; nil if none of them is wanted.
func (d *driven) alarms(m election.Member) func(line string) {
	a, may := d.system.(election.Alarmer)
	if !may || d.alarm == nil || m.Server {
		return nil
	}
	return func(line string) {
		if a.Alarms(line) {
			d.alarm(m.Name, line)
		}
	}
}

const (
	alarmGap   = 100 * time.Millisecond // within which a node's alarms are told as one: some come with each message
	alarmWords = 200                    // characters of the line that are kept in the history; the log has all of it
)

// alarmed takes up that a node has raised an alarm.
func (r *run) alarmed(node, line string) {
	last, again := r.alarms[node]
	now := r.cluster.Now()
	if again && now-last < alarmGap {
		return
	}
	r.alarms[node] = now
	line = term.Clip(term.Printable(line), alarmWords)
	r.append(history.Op{Process: history.Harness, Type: history.Info, F: history.Alarm, Node: node, Error: line})
	if !again {
		r.note("%s raised an alarm: %s", node, line)
	}
}
