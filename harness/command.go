package harness

import (
	"context"

	"recount/election"
)

// command has a member of a real system carry out a command: to read or write for a client, to hand over, or to change a member. It
// returns what is known then; nil if nothing is.
func command(ctx context.Context, y election.System, all []election.Member, self election.Member, cmd election.Command, dial election.Dial) (answer func(done func(uint64, error))) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	value, err := carry(ctx, y, all, self, cmd, dial)
	if err == nil || election.Certain(err) {
		return func(done func(uint64, error)) { done(value, err) }
	}
	return nil
}

func carry(ctx context.Context, y election.System, all []election.Member, self election.Member, cmd election.Command, dial election.Dial,
) (value uint64, err error) {
	switch cmd.Do {
	case election.Get:
		if s, can := y.(election.Storer); can {
			return s.Get(ctx, self, all, dial)
		}
	case election.Put:
		if s, can := y.(election.Storer); can {
			return cmd.Value, s.Put(ctx, self, all, cmd.Value, dial)
		}
	case election.Reconfigure:
		if r := reconfigurable(y); r != nil {
			return 0, r.Reconfigure(ctx, self, all, cmd.Who, cmd.As, dial)
		}
	case election.Resign:
		if ask := election.HandOverOf(y); ask != nil && self.Server {
			return 0, election.ErrNotLeader
		} else if ask != nil {
			return 0, ask(ctx, self, all, cmd.Heir, dial)
		}
	}
	return 0, election.ErrCannot
}
