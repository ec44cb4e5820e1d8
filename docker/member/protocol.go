package member

import (
	"recount/election"
	"recount/history"
)

// The ports of a node. Members talk on the first, by datagrams; the others are on the node's loopback only, where no
// fault is in the way.
const (
	PeerPort     = 7000 // other members
	ControlPort  = 7001 // the harness asks, and listens to announcements
	ResourcePort = 7002 // the harness listens: the resource that leaders write to
)

// The control protocol is lines of JSON. A client sends requests; the node sends replies and, once it was asked to, its
// announcements.
type (
	// request asks for the view, for all announcements after a mark, or that a command be carried out.
	request struct {
		Ask     string            `json:"ask"` // "view", "announcements" or "command"
		ID      uint64            `json:"id,omitempty"`
		After   *Mark             `json:"after,omitempty"`
		Command *election.Command `json:"command,omitempty"`
	}

	// reply answers request ID, or is an announcement: then it has a mark.
	reply struct {
		ID     uint64          `json:"id,omitempty"`
		Mark   *Mark           `json:"mark,omitempty"`
		Lost   uint64          `json:"lost,omitempty"`
		View   *view           `json:"view,omitempty"`
		Vote   *vote           `json:"vote,omitempty"`
		Update *history.Update `json:"update,omitempty"`
		Result *result         `json:"result,omitempty"`
	}

	// result is what became of a command.
	result struct {
		Value   uint64 `json:"value,omitempty"`
		Refused string `json:"refused,omitempty"` // why it certainly was not carried out
	}

	view struct {
		Role   string `json:"role"`
		Term   uint64 `json:"term"`
		Leader string `json:"leader,omitempty"`
		Tenure uint64 `json:"tenure,omitempty"`
	}

	vote struct {
		Term uint64 `json:"term"`
		For  string `json:"for"`
	}
)

func viewOf(v history.View) *view {
	return &view{v.Role.String(), v.Term, v.Leader, v.Tenure}
}

func (v *view) history() (h history.View, err error) {
	h = history.View{Term: v.Term, Leader: v.Leader, Tenure: v.Tenure}
	return h, h.Role.UnmarshalText([]byte(v.Role))
}

func replyOf(a *Announcement) reply {
	r := reply{Mark: &a.Mark, Lost: a.Lost, Update: a.Update}
	if a.View != nil {
		r.View = viewOf(*a.View)
	}
	if a.Vote != nil {
		v := vote(*a.Vote)
		r.Vote = &v
	}
	return r
}

func (r *reply) announcement() (a Announcement, err error) {
	a = Announcement{Mark: *r.Mark, Lost: r.Lost, Update: r.Update}
	if r.View != nil {
		v, err := r.View.history()
		if err != nil {
			return a, err
		}
		a.View = &v
	}
	if r.Vote != nil {
		v := history.Vote(*r.Vote)
		a.Vote = &v
	}
	return a, nil
}

// maxLine is the longest line of the protocol, in bytes.
const maxLine = 4 << 10
