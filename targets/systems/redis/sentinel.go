package redis

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"recount/election"
	"recount/history"
	"recount/targets"
)

// redis-sentinel is a master of Redis with its replicas, watched by sentinels, who make a replica the master when a
// majority of them has missed the old one. Each node is a box with a server and a sentinel, as in the second example of the
// documentation. Who takes writes leads. What its makers promise:
//
//   - that the old master goes on taking writes in a partition, and what bounds it:
//     https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#example-2-basic-setup-with-three-boxes
//   - https://github.com/redis/redis/issues/1073
//
// Sentinels number the masters by a configuration epoch, which the masters do not know: a role and an epoch cannot be read
// in one answer. So this election numbers no leaderships.
func init() {
	targets.Register(&targets.Target{
		Name:    "redis-sentinel",
		About:   "sentinels that choose the master among Redis servers; who takes writes leads",
		Source:  "https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/",
		NoTerms: true,
		Options: []targets.Option{
			{Name: "version", Kind: targets.Choice, Default: Version, Choices: []string{Version}, About: "of the servers and sentinels"},
			{Name: "down-after", Kind: targets.Duration, Default: "5s", About: "silence after which a sentinel takes the master for down"},
			{Name: "failover-timeout", Kind: targets.Duration, Default: "5s", About: "half of the time from one attempt to replace it to the next"},
			{
				Name: "min-replicas-to-write", Kind: targets.Choice, Default: "0", Choices: []string{"0", "1", "2"},
				About: "replicas that a master must have heard from in the last 2 s to take writes",
			},
		},
		Promises: []targets.Promise{
			{Property: "sticky-leader"},
			{Property: "no-ping-pong"},
			{Property: "elects", While: "a replica is up among those that a majority of the sentinels reaches"},
		},
		Bounds: func(o targets.Options) history.Bounds {
			down, again := o.Duration("down-after"), 2*o.Duration("failover-timeout")
			return history.Bounds{
				Silence: down + 2*time.Second, // sentinels look at each other once a second
				// Three attempts; and they ask a master for its replicas, of which one is to follow it, every 10 s.
				Elect: down + 3*again + 20*time.Second,
				Poll:  100 * time.Millisecond,
			}
		},
		System: func(o targets.Options) (election.System, error) { return &sentinels{options: o}, nil },
	})
}

type sentinels struct{ options targets.Options }

func (s *sentinels) Image() election.Image {
	return election.Image{Recipe: Name, Version: s.options.Value("version")}
}

// sentinelMaster is the name by which sentinels know the master, whoever it is.
const sentinelMaster = "recount"

// Container is a server, which the first node begins as the master, and a sentinel. Both write what they learn into their
// configuration.
func (s *sentinels) Container(self election.Member, all []election.Member) election.Container {
	server := fmt.Sprintf(`port %d
bind 0.0.0.0
protected-mode no
dir /data
save ""
appendonly yes
repl-diskless-sync-delay 0
repl-ping-replica-period 1
min-replicas-to-write %s
min-replicas-max-lag 2
`, Port, s.options.Value("min-replicas-to-write"))
	if self.ID != all[0].ID {
		server += fmt.Sprintf("replicaof %s %d\n", all[0].Addr, Port)
	}
	sentinel := fmt.Sprintf(`port %d
bind 0.0.0.0
protected-mode no
dir /data
sentinel monitor %[2]s %s %d %d
sentinel down-after-milliseconds %[2]s %[6]d
sentinel failover-timeout %[2]s %[7]d
`, sentinelPort, sentinelMaster, all[0].Addr, Port, len(all)/2+1,
		s.options.Duration("down-after").Milliseconds(), s.options.Duration("failover-timeout").Milliseconds())
	return election.Container{
		Data: "/data", Files: map[string]string{"/data/redis.conf": server},
		Command: []string{"/usr/bin/redis-server", "/data/redis.conf"},
		Beside: []election.Container{{
			Data: "/data", Files: map[string]string{"/data/sentinel.conf": sentinel},
			Command: []string{"/usr/bin/redis-server", "/data/sentinel.conf", "--sentinel"},
		}},
	}
}

// Observer asks the server.
func (s *sentinels) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	ids := map[string]election.ID{}
	for _, m := range all {
		ids[m.Addr.String()] = m.ID
	}
	return &sentinelObserver{client{dial: dial}, self.ID, ids}
}

type sentinelObserver struct {
	client
	self election.ID
	ids  map[string]election.ID
}

// sentinelScript tries to write, and tells whether that went well, together with the server's role and master: scripts run
// alone.
const sentinelScript = `local w = redis.pcall('SET', KEYS[1], '1')
return {w['err'] or w['ok'], redis.call('INFO', 'replication')}`

// Observe writes to the server: a master that takes no writes does not lead.
func (o *sentinelObserver) Observe(ctx context.Context) (election.Status, bool, error) {
	var answer []string
	err := o.ask(ctx, func(server *redis.Client) (err error) {
		answer, err = server.Eval(ctx, sentinelScript, []string{"recount:probe"}).StringSlice()
		return err
	})
	if err == nil && len(answer) != 2 {
		err = fmt.Errorf("redis answered %q", answer)
	}
	if err != nil {
		return election.Status{}, false, fmt.Errorf("redis-sentinel: observe %v: %w", o.self, err)
	}
	return o.read(answer[0], answer[1]), false, nil
}

var (
	roleLine   = regexp.MustCompile(`(?m)^role:(\w+)\r?$`)
	masterLine = regexp.MustCompile(`(?m)^master_host:([0-9a-f.:]+)\r?$`)
)

// read works out what the outcome of the write and the server's own account of its replication mean.
func (o *sentinelObserver) read(wrote, info string) election.Status {
	role := roleLine.FindStringSubmatch(info)
	switch {
	case role == nil:
		return election.Status{}
	case role[1] == "master" && wrote == "OK":
		return election.Status{Role: election.Leader, Leader: o.self}
	case role[1] == "master":
		return election.Status{Role: election.Candidate}
	}
	s := election.Status{}
	if m := masterLine.FindStringSubmatch(info); m != nil && strings.Contains(info, "master_link_status:up") {
		s.Leader = o.ids[m[1]]
	}
	return s
}
