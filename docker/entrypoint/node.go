package entrypoint

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"recount/docker/member"
	"recount/election"
	"recount/internal/hint"
	"recount/internal/seed"
	"recount/targets"
	"recount/targets/specfile"
)

func nodeCommand(fail func(error) error) *cobra.Command {
	var f nodeFlags
	cmd := &cobra.Command{
		Use:    "node",
		Short:  "Run one member of an election: what a container runs",
		Hidden: true,
		Long: `Run one member of an election in this process: an algorithm (--target), or the writer that lives beside the server
of a real system (--beside).`,
		Example: `  recount node --target raft --id 1 --members 10.0.0.1,10.0.0.2,10.0.0.3 --data /data`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.command()
			if err != nil {
				return err
			}
			t, err := find(c)
			if err != nil {
				return err
			}
			t = t.On(true, c.Options)
			o, err := t.Parse(c.Options)
			if err != nil {
				return err
			}
			l := log.New(cmd.ErrOrStderr(), "", log.Ltime|log.Lmicroseconds)
			if c.Beside {
				err = runBeside(cmd.Context(), c, t, o, l)
			} else {
				err = runNode(cmd.Context(), c, t, o, l)
			}
			if err != nil {
				return fail(err)
			}
			return nil
		},
	}
	f.bind(cmd.Flags())
	return cmd
}

// find returns the target of a command line.
func find(c *member.Command) (*targets.Target, error) {
	if c.Definition == "" {
		return targets.Find(c.Target)
	}
	s, err := specfile.Parse(c.Target, []byte(c.Definition))
	if err != nil {
		return nil, err
	}
	return s.Target(c.Target), nil
}

// nodeFlags are the flags that a member.Command is written in.
type nodeFlags struct {
	member.Command
	beside           string
	id               int
	members, options []string
}

func (f *nodeFlags) bind(fs *pflag.FlagSet) {
	fs.StringVar(&f.Target, "target", "", "the algorithm to run")
	fs.StringVar(&f.beside, "beside", "", "the real system beside whose server to run a writer")
	fs.StringVar(&f.Definition, "definition", "", "the text of the file that describes the target")
	fs.StringArrayVar(&f.options, "opt", nil, "an option of the target, `name=value`; may be given again")
	fs.IntVar(&f.id, "id", 0, "number of this member, from 1")
	fs.StringSliceVar(&f.members, "members", nil, "addresses of all members, in the order of their numbers")
	fs.StringVar(&f.Data, "data", "/data", "folder that survives a restart")
	fs.StringVar(&f.Own, "own", "", "a second one, of Recount's own (default: the same)")
	fs.Uint64Var(&f.Seed, "seed", 0, "the run's seed")
	fs.DurationVar(&f.WriteEvery, "write-every", 0, "time between two writes of a leader (default: no writer)")
	fs.DurationVar(&f.WriteGap, "write-gap", 0, "longest time from finding that this node leads to the write")
}

// command checks what was given.
func (f *nodeFlags) command() (*member.Command, error) {
	c := &f.Command
	if f.beside != "" {
		if c.Target != "" {
			return nil, fmt.Errorf("both --target and --beside are given")
		}
		c.Target, c.Beside = f.beside, true
	}
	for _, m := range f.members {
		a, err := netip.ParseAddr(m)
		if err != nil {
			return nil, fmt.Errorf("--members: %w", err)
		}
		c.Members = append(c.Members, a)
	}
	if f.id < 1 || f.id > len(c.Members) {
		return nil, hint.Add(fmt.Errorf("--id %d: there are %d members", f.id, len(c.Members)), "numbers begin at 1")
	}
	c.ID = election.ID(f.id)
	for _, o := range f.options {
		k, v, ok := strings.Cut(o, "=")
		if !ok {
			return nil, hint.Add(fmt.Errorf("--opt %q is not name=value", o), "--opt scale=0.5")
		}
		if c.Options == nil {
			c.Options = map[string]string{}
		}
		c.Options[k] = v
	}
	if c.WriteEvery < 0 || c.WriteGap < 0 {
		return nil, fmt.Errorf("--write-every %v, --write-gap %v: times are positive", c.WriteEvery, c.WriteGap)
	}
	return c, nil
}

func runNode(ctx context.Context, c *member.Command, t *targets.Target, o targets.Options, l *log.Logger) error {
	if t.Node == nil {
		return hint.Add(fmt.Errorf("node: %s is a real system", t.Name), "a writer runs --beside its own server")
	}
	cfg := member.Config{
		ID:   c.ID,
		New:  func(env election.Env) election.Node { return t.Node(o, env) },
		Rand: streams(c.Seed),
		Data: c.Data,
		Own:  c.Own,
		Log:  l,
	}
	for _, a := range c.Members {
		cfg.Members = append(cfg.Members, netip.AddrPortFrom(a, member.PeerPort))
	}
	var err error
	self := net.UDPAddrFromAddrPort(cfg.Members[c.ID-1])
	if cfg.Socket, err = net.ListenUDP("udp", self); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	if cfg.Control, err = net.Listen("tcp", loopback(member.ControlPort)); err != nil {
		cfg.Socket.Close()
		return fmt.Errorf("node: %w", err)
	}
	if c.WriteEvery > 0 {
		cfg.Writer = writerConfig(c)
	}
	return member.Run(ctx, cfg)
}

func runBeside(ctx context.Context, c *member.Command, t *targets.Target, o targets.Options, l *log.Logger) error {
	if t.System == nil {
		return hint.Add(fmt.Errorf("node: %s is an algorithm", t.Name), "--target runs it, and its writer with it")
	}
	if c.WriteEvery == 0 {
		return hint.Add(fmt.Errorf("node: nothing to do beside %s", t.Name), "--write-every says how often to write")
	}
	system, err := t.System(o)
	if err != nil {
		return err
	}
	var all []election.Member
	for i, a := range c.Members {
		all = append(all, election.Member{ID: election.ID(i + 1), Name: election.ID(i + 1).String(), Addr: a})
	}
	observer := system.Observer(all[c.ID-1], all, func(ctx context.Context, port int) (net.Conn, error) {
		return dialLoopback(ctx, port)
	})
	return member.RunBeside(ctx, member.BesideConfig{
		ID: c.ID, Observer: observer, Rand: streams(c.Seed), Data: c.Data, Writer: *writerConfig(c), Log: l,
	})
}

func writerConfig(c *member.Command) *member.WriterConfig {
	return &member.WriterConfig{
		Every: max(c.WriteEvery, time.Millisecond),
		Gap:   c.WriteGap,
		Dial:  func(ctx context.Context) (net.Conn, error) { return dialLoopback(ctx, member.ResourcePort) },
	}
}

func streams(s uint64) func(purpose string) *rand.Rand {
	return func(purpose string) *rand.Rand { return seed.New(s, purpose) }
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func dialLoopback(ctx context.Context, port int) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", loopback(port))
}
