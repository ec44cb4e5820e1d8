package bugs

import "recount/harness/record"

func init() {
	register(
		Row{
			Name: "etcd-raft-smaller-term",
			Bug: "With pre-vote, who is behind in its term and who is ahead of it but has to have its vote do not hear each other: the one's " +
				"answers are of a term that the other ignores. Where only these two are left of three, nobody is elected.",
			Sources:  []string{"https://github.com/etcd-io/etcd/issues/8243"},
			Property: "elects",
			On:       []string{record.OnVirtual},
			Affected: "etcd's raft library 3.2.0",
			Controls: []Control{{About: "etcd's raft library 3.5.0", Options: map[string]string{"version": "3.5.0"}}},
		},
		Row{
			Name: "etcd-raft-introduced-pre-vote",
			Bug: "While pre-vote is being introduced, who has counted its term up before, and has the shorter log, ignores whoever asks in a lower " +
				"term, and is refused by all for its log. Where its vote is needed nobody is elected.",
			Sources:  []string{"https://github.com/etcd-io/etcd/issues/8501"},
			Property: "elects",
			On:       []string{record.OnVirtual},
			Affected: "etcd's raft library 3.2.0",
			Controls: []Control{{About: "etcd's raft library 3.5.0", Options: map[string]string{"version": "3.5.0"}}},
		},
		Row{
			Name: "etcd-raft-promoted-learner",
			Bug: "A learner that was made a voter, and does not know it yet, does not vote. Where its vote is needed nobody is elected, and so " +
				"nobody can tell it.",
			Sources:  []string{"https://github.com/etcd-io/etcd/pull/10998"},
			Property: "elects",
			On:       []string{record.OnDocker, record.OnVirtual},
			Affected: "etcd's raft library 3.3.10",
			Controls: []Control{{About: "etcd's raft library 3.5.0", Options: map[string]string{"version": "3.5.0"}}},
		},
	)
}
