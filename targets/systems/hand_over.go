package systems

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"recount/election"
)

// HandOver asks a main of ours to hand the leadership over: POST /hand-over, with ?to= and what the heir is called by name.
// It answers 200 when it has taken it up, 409 when it does not lead, 400 when it refuses, and anything else when it cannot tell.
func HandOver(port int, name func(election.Member) string) election.HandOver {
	return func(ctx context.Context, _ election.Member, all []election.Member, heir election.ID, dial election.Dial) error {
		path := "/hand-over"
		if heir != election.None {
			path += "?to=" + name(all[heir-1])
		}
		_, err := post(ctx, dial, port, path, election.ErrNotLeader)
		return err
	}
}

// post has a main of ours do something, and returns its answer: with 200, that it has taken it up. A 409 comes to conflict, and a 400 to a
// refusal; with anything else nobody can tell.
func post(ctx context.Context, dial election.Dial, port int, path string, conflict error) ([]byte, error) {
	a := NewAsker(dial, port)
	defer a.Close()
	status, answer, err := a.Post(ctx, path, "")
	said := strings.TrimSpace(string(answer))
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusOK:
		return answer, nil
	case status == http.StatusConflict:
		return nil, fmt.Errorf("%w: %s", conflict, said)
	case status == http.StatusBadRequest:
		return nil, fmt.Errorf("%w: %s", election.ErrRefused, said)
	}
	return nil, fmt.Errorf("%s answered %d: %s", path, status, said)
}

// ByName is what a member may be called: n2.
func ByName(m election.Member) string { return m.ID.String() }

// ByNumber is what else a member may be called: 2.
func ByNumber(m election.Member) string { return fmt.Sprint(uint64(m.ID)) }
