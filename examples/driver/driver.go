// Package driver is a driver of a real server, written in Go: the second of the three ways to Recount. It does for the
// server of examples/server what election.yaml there does without Go; a driver can do what a file cannot, such as speak
// another protocol than HTTP.
package driver

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"recount/election"
	"recount/history"
	"recount/targets"
)

func init() {
	targets.Register(&targets.Target{
		Name:   "http-election",
		About:  "an example: members that elect over HTTP",
		Source: "examples/server",
		Options: []targets.Option{
			{Name: "binary", Kind: targets.Text, Default: "examples/server/server", About: "the server, a static Linux executable"},
			{Name: "timeout", Kind: targets.Duration, Default: "500ms", About: "silence after which a member campaigns"},
		},
		Promises: []targets.Promise{
			{Property: "single-leader-per-term"},
			{Property: "monotonic-term"},
			{Property: "elects", While: "a majority is connected"},
		},
		Bounds: func(o targets.Options) history.Bounds {
			t := o.Duration("timeout")
			return history.Bounds{Silence: 2 * t, Elect: 20*t + 5*time.Second, Poll: 50 * time.Millisecond}
		},
		System: func(o targets.Options) (election.System, error) { return system{o}, nil },
	})
}

const port = 8080

type system struct{ options targets.Options }

func (s system) Image() election.Image { return election.Image{Binary: s.options.Value("binary")} }

func (s system) Container(self election.Member, all []election.Member) election.Container {
	var peers []string
	for _, m := range all {
		if m.ID != self.ID {
			peers = append(peers, fmt.Sprintf("%s=http://%s:%d", m.Name, m.Addr, port))
		}
	}
	return election.Container{
		Command: []string{"--id=" + self.Name, "--peers=" + strings.Join(peers, ","), "--timeout=" + s.options.Value("timeout")},
		Data:    "/data",
	}
}

func (s system) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	return &observer{self, all, http.Client{Transport: &http.Transport{
		// Not over the network, where the faults are, but from within the node's own.
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, port) },
	}}}
}

type observer struct {
	self   election.Member
	all    []election.Member
	client http.Client
}

// Observe asks for the status, which the server gives under its lock: role, term and leader belong together.
func (o *observer) Observe(ctx context.Context) (st election.Status, torn bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://node/status", nil)
	if err != nil {
		return st, false, err
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return st, false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK { // what says nothing of the election is no view
		return st, false, fmt.Errorf("status of %s: it answered %s", o.self.Name, resp.Status)
	}
	var said struct {
		Role, Leader string
		Term         uint64
	}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		return st, false, fmt.Errorf("status of %s: %w", o.self.Name, err)
	}
	st.Term = said.Term
	switch said.Role {
	case "leader":
		st.Role = election.Leader
	case "candidate":
		st.Role = election.Candidate
	case "follower":
	default:
		return st, false, fmt.Errorf("status of %s: %q is no role", o.self.Name, said.Role)
	}
	i := slices.IndexFunc(o.all, func(m election.Member) bool { return m.Name == said.Leader })
	switch {
	case i >= 0:
		st.Leader = o.all[i].ID
	case said.Leader != "":
		return st, false, fmt.Errorf("status of %s: the leader %q is none of the nodes", o.self.Name, said.Leader)
	}
	return st, false, nil
}

func (o *observer) Close() error {
	o.client.CloseIdleConnections()
	return nil
}

// Ready is asked until the server answers; the run begins then.
func (s system) Ready(ctx context.Context, _ election.Member, _ []election.Member, dial election.Dial) error {
	conn, err := dial(ctx, port)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Patience is how long that may take.
func (s system) Patience() time.Duration { return 30 * time.Second }
