package systems

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"recount/election"
)

// Register is the number that mains of ours keep by the library that they elect by. A driver embeds it.
//
// A main answers GET /register with the number, and POST /register?value=N when the cluster has committed it: 200 then; 409 when it
// certainly was not done and will not be, as of one that does not lead; anything else when nobody knows.
type Register struct{}

// Get implements election.Storer.
func (Register) Get(ctx context.Context, _ election.Member, _ []election.Member, dial election.Dial) (value uint64, err error) {
	body, err := atRegister(ctx, dial, http.MethodGet, "/register")
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(body)), 10, 64)
}

// Put implements election.Storer.
func (Register) Put(ctx context.Context, _ election.Member, _ []election.Member, value uint64, dial election.Dial) error {
	_, err := atRegister(ctx, dial, http.MethodPost, fmt.Sprintf("/register?value=%d", value))
	return err
}

func atRegister(ctx context.Context, dial election.Dial, method, path string) ([]byte, error) {
	status, body, err := Call(ctx, dial, StatusPort, method, path, "")
	said := strings.TrimSpace(string(body))
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusOK:
		return body, nil
	case status == http.StatusConflict:
		return nil, fmt.Errorf("%w: %s", election.ErrRefused, said)
	}
	return nil, fmt.Errorf("/register answered %d: %s", status, said)
}

// Call asks a server one thing, over a connection of its own, and returns the status and the body of the answer. That nothing was done
// is certain only of a server that nobody could connect to.
func Call(ctx context.Context, dial election.Dial, port int, method, path, question string) (status int, answer []byte, err error) {
	dial, connected := dial.Noting()
	a := NewAsker(dial, port)
	defer a.Close()
	if status, answer, err = a.exchange(ctx, method, path, question); err != nil && !connected() {
		err = fmt.Errorf("%w: %w", election.ErrRefused, err)
	}
	return status, answer, err
}
