package member

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"recount/election"
)

// Command is the command line of "recount node", which runs one member.
type Command struct {
	Target string
	// Definition is the text of the file that describes the target, where one does.
	Definition string
	Options    map[string]string // as given; the target's defaults for the rest
	Beside     bool              // the target is a real system, whose server runs beside: run only the writer
	ID         election.ID
	Members    []netip.Addr // in the order of their ids
	Data       string       // the folder that survives a restart
	Own        string       // a second one, of what is Recount's own, which no fault of a disk reaches; "" for Data
	Seed       uint64       // the run's
	// WriteEvery and WriteGap are the writer's times; there is no writer where WriteEvery is 0.
	WriteEvery, WriteGap time.Duration
}

// Args are the arguments of the executable.
func (c *Command) Args() []string {
	kind := "--target"
	if c.Beside {
		kind = "--beside"
	}
	members := make([]string, len(c.Members))
	for i, m := range c.Members {
		members[i] = m.String()
	}
	args := []string{
		"node", kind, c.Target, "--id", strconv.Itoa(int(c.ID)), "--members", strings.Join(members, ","),
		"--data", c.Data, "--seed", strconv.FormatUint(c.Seed, 10),
		"--write-every", c.WriteEvery.String(), "--write-gap", c.WriteGap.String(),
	}
	if c.Own != "" {
		args = append(args, "--own", c.Own)
	}
	if c.Definition != "" {
		args = append(args, "--definition", c.Definition)
	}
	for _, k := range slices.Sorted(maps.Keys(c.Options)) {
		args = append(args, "--opt", k+"="+c.Options[k])
	}
	return args
}
