package specfile

import (
	"errors"
	"slices"

	"recount/election"
	"recount/targets"
)

// Lacks returns the name of leader's field if an answer in JSON does not have it. A node that knows of no leader may
// leave it out.
func (s *Spec) Lacks(answer []byte) string {
	r := &reader{Spec: s}
	get, err := r.getter(answer)
	if err != nil || !s.Observe.Leader.Given() {
		return ""
	}
	_, err = get(s.Observe.Leader)
	var left absent
	errors.As(err, &left)
	return left.what
}

// names reports whether nodes say who leads besides whether they do.
func (s *Spec) names() bool {
	if s.Observe.Asks() {
		o := &s.Observe
		onlyItself := len(o.Self) > 0 && len(o.Identifies) == 0 && len(o.Table) == 0 && !o.learns()
		return o.Leader.Given() && !onlyItself
	}
	return s.logsName()
}

// logsName reports whether lines of followers' logs name the leader.
func (s *Spec) logsName() bool {
	return slices.ContainsFunc(s.Observe.Logs, func(l LogLine) bool {
		return l.Role != election.Leader && l.tellsLeader()
	})
}

// untold are the properties that are judged by what no spec file has nodes do.
var untold = map[string]string{
	"vote-once": "tell no votes", "ordered-updates": "tell no updates",
}

// Missing says what the spec leaves out, and what that costs.
func (s *Spec) Missing() (list []string) {
	asked := s.Observe.Asks()
	say := func(is bool, what string) {
		if is {
			list = append(list, what)
		}
	}
	say(!asked && !s.Observe.Standing, "http, metrics or command: nodes are heard only when their logs tell a change, so most of what they do is not seen")
	say(!asked && !s.Observe.Standing, "standing: true beside lines in logs, if what a line tells holds until the next: else a claim is an instant, and "+
		"nothing can be said of how long anybody led")
	say(asked && len(s.Observe.Logs) == 0, "logs: leaderships that fall between two polls are not seen")
	say(!s.HasTerms(), "term: nothing can be said of single-leader-per-term, monotonic-term and bounded-terms; tenures count instead")
	say(asked && !s.HasTerms() && !s.Observe.Tenure.Given(), "tenure: where a server counts its leaderships, or tells since when it leads, two that lead at once "+
		"are told from a lead that goes back and forth")
	say(!s.names() && !s.logsName(), "leader: followers name nobody, so that agreement cannot be judged")
	say(!s.names() && s.logsName(), "leader: followers' answers name nobody, so that agreement is judged by lines of logs alone")
	say(len(s.Observe.Command) > 0, "http, where the server answers it: a command takes about 0.1 s of a processor at each poll; poll: 500ms in times keeps that low")
	say(s.Observe.Torn, "an answer of one instant: nobody is accused by those that are not")
	say(s.Data == "", "data: nobody knows where nodes keep their files, so that no fault of disks, and no crash that loses what was not synced, can befall them")
	say(!s.Register.given() && slices.ContainsFunc(s.Promises, func(p targets.Promise) bool { return p.Property == "linearizable" || p.Property == "progress" }),
		"register: nothing is read and written by clients, so that linearizable and progress are never tested")
	for _, p := range s.Promises {
		what := untold[p.Property]
		say(what != "", "what "+p.Property+" is judged by: nodes of a spec file "+what+", so that this promise is never tested")
	}
	say(len(s.Promises) == 0, "promises: whatever breaks, no run fails, unless a node ends by itself; --require makes a property count for one run")
	say(s.Source == "", "source: where the promises come from")
	return list
}
