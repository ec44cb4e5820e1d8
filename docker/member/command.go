package member

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"recount/election"
)

// Command is what one member of a run is to do: the plan of "recount node", which is given to it as one JSON object.
type Command struct {
	Target string `json:"target"`
	// Definition is the text of the file that describes the target, where one does.
	Definition string            `json:"definition,omitempty"`
	Options    map[string]string `json:"options,omitempty"` // as given; the target's defaults for the rest
	Beside     bool              `json:"beside,omitempty"`  // the target is a real system, whose server runs beside: run only the writer
	ID         election.ID       `json:"id"`                // from 1
	Members    []netip.Addr      `json:"members"`           // in the order of their ids
	Data       string            `json:"data"`              // the folder that survives a restart
	Own        string            `json:"own,omitempty"`     // a second one, of what is Recount's own, which no fault of a disk reaches; "" for Data
	Seed       uint64            `json:"seed"`              // the run's
	// WriteEvery and WriteGap are the writer's times in nanoseconds: between two writes of a leader, and at most from finding
	// that this node leads to the write. There is no writer where WriteEvery is 0.
	WriteEvery time.Duration `json:"write-every,omitempty"`
	WriteGap   time.Duration `json:"write-gap,omitempty"`
	// Relay says that the writer looks and writes through the harness, which can do what cannot be done from beside a server.
	Relay bool `json:"relay,omitempty"`
}

// Args are the arguments of the executable.
func (c *Command) Args() []string {
	plan, err := json.Marshal(c)
	if err != nil {
		panic("member: " + err.Error()) // nothing in it can fail
	}
	return []string{"node", string(plan)}
}

// ParseCommand reads what Args has written.
func ParseCommand(plan string) (*Command, error) {
	d := json.NewDecoder(strings.NewReader(plan))
	d.DisallowUnknownFields()
	var c Command
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("node: plan: %w", err)
	}
	switch {
	case c.ID < 1 || int(c.ID) > len(c.Members):
		return nil, fmt.Errorf("node: plan: id %d: there are %d members", int(c.ID), len(c.Members))
	case c.WriteEvery < 0 || c.WriteGap < 0:
		return nil, fmt.Errorf("node: plan: write-every %v, write-gap %v: times are positive", c.WriteEvery, c.WriteGap)
	case c.Data == "":
		return nil, fmt.Errorf("node: plan: no data folder")
	}
	return &c, nil
}
