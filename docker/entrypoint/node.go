package entrypoint

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"recount/docker/member"
	"recount/election"
	"recount/internal/hint"
	"recount/internal/seed"
	"recount/targets"
	"recount/targets/specfile"
)

func nodeCommand(fail func(error) error) *cobra.Command {
	return &cobra.Command{
		Use:    "node PLAN",
		Short:  "Run one member of an election: what a container runs",
		Hidden: true,
		Long: `Run one member of an election in this process, as PLAN says, a JSON object: an algorithm, or the writer that lives
beside the server of a real system.`,
		Example: `  recount node '{"target":"raft","id":1,"members":["10.0.0.1","10.0.0.2","10.0.0.3"],"data":"/data","seed":1}'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := member.ParseCommand(args[0])
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
}

// find returns the target of a plan.
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

func runNode(ctx context.Context, c *member.Command, t *targets.Target, o targets.Options, l *log.Logger) error {
	if t.Node == nil {
		return hint.Add(fmt.Errorf("node: %s is a real system", t.Name), "a writer runs beside its server: \"beside\":true")
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
		return hint.Add(fmt.Errorf("node: %s is an algorithm", t.Name), "it runs with its writer: leave \"beside\" out")
	}
	if c.WriteEvery == 0 {
		return hint.Add(fmt.Errorf("node: nothing to do beside %s", t.Name), "\"write-every\" says how often to write, in nanoseconds")
	}
	beside := member.SidecarConfig{ID: c.ID, Rand: streams(c.Seed), Data: c.Data, Writer: *writerConfig(c), Log: l}
	if c.Relay {
		return member.RunSidecar(ctx, beside)
	}
	system, err := t.System(o)
	if err != nil {
		return err
	}
	var all []election.Member
	for i, a := range c.Members {
		all = append(all, election.Member{ID: election.ID(i + 1), Name: election.ID(i + 1).String(), Addr: a})
	}
	beside.Observer = system.Observer(all[c.ID-1], all, func(ctx context.Context, port int) (net.Conn, error) {
		return dialLoopback(ctx, port)
	})
	return member.RunSidecar(ctx, beside)
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
