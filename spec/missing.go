package spec

// Missing says what the spec leaves out, and what that costs.
func (s *Spec) Missing() (list []string) {
	asked := s.Observe.HTTP != nil || s.Observe.Command != nil
	say := func(is bool, what string) {
		if is {
			list = append(list, what)
		}
	}
	say(!asked, "http, metrics or command: nodes are heard only when their logs tell a change, so most of what they do is not seen")
	say(asked && len(s.Observe.Logs) == 0, "logs: leaderships that fall between two polls are not seen")
	say(!s.HasTerms(), "term: nothing can be said of single-leader-per-term, monotonic-term and bounded-terms; tenures count instead")
	say(asked && !s.Observe.Leader.Given(), "leader: followers name nobody, so that agreement cannot be judged, and a run waits in vain for a majority that does")
	say(len(s.Observe.Command) > 0, "http: a command takes about 0.1 s, and the writer of the workload fence cannot run it")
	say(s.Observe.Torn, "an answer of one instant: nobody is accused by those that are not")
	say(s.Data == "", "data: a node that is killed comes back with nothing on its disk but what the image has")
	say(len(s.Promises) == 0, "promises: whatever breaks, no run fails; --require makes a property count for one run")
	say(s.Source == "", "source: where the promises come from")
	return list
}
