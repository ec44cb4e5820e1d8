package specfile

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/targets"
)

// known is a system as Recount comes with some.
type known struct{ version string }

func (k known) Image() election.Image { return election.Image{Ref: "known:" + k.version} }

func (k known) Container(self election.Member, all []election.Member) election.Container {
	c := election.Container{Data: "/data", Command: []string{self.Name}}
	for _, m := range all {
		c.Command = append(c.Command, m.Name)
	}
	return c
}

func (k known) Observer(election.Member, []election.Member, election.Dial) election.Observer {
	return silent{}
}

func init() {
	targets.Register(&targets.Target{
		Name: "known", Options: []targets.Option{{Name: "version", Kind: targets.Choice, Default: "1", Choices: []string{"1", "2"}},
			{Name: "voting", Kind: targets.Number, Default: "9"}},
		Voters: func(o targets.Options, nodes int) (ids []election.ID, _ error) {
			for id := range min(nodes, int(o.Number("voting"))) {
				ids = append(ids, election.ID(id+1))
			}
			return ids, nil
		},
		Bounds: func(targets.Options) history.Bounds { return history.Bounds{} },
		System: func(o targets.Options) (election.System, error) { return known{o.Value("version")}, nil },
	})
}

// served has a service of each kind.
const served = `image: a
parameters: {stores: 3, store-version: 2}
command: ['{{.Size}}', '{{servers "store" "," "{name}={addr}:9"}}', '{{servers "cache" "," "{addr}:{client}"}}', '{{members "," "{name}"}}']
files: {/etc/a: 'me {{.Name}}'}
capabilities: [NET_ADMIN]
processes: {agent: {match: '^agent'}}
bootstrap: [/bin/form, '{{members "," "{name}"}}']
ports: {http: 80}
times: {silence: 1s}
services:
  store: {system: known, version: '{{param "store-version"}}', nodes: '{{int "stores"}}'}
  cache: {image: redis:7, command: ['{{.ID}}', '{{members "," "{addr}:{client}"}}'], ports: {client: 6379}, nodes: 2, elects: false}
observe: {http: /, leader: lead}
`

// withServers are n nodes and s servers behind them.
func withServers(n, s int) []election.Member {
	all := members(n + s)
	for i := n; i < n+s; i++ {
		all[i].Name, all[i].Server = "s"+string(rune('1'+i-n)), true
	}
	return all
}

func TestServices(t *testing.T) {
	s := parse(t, served)
	target := s.Target("mine.yaml")
	o, err := target.Parse(nil)
	require.NoError(t, err)
	require.Equal(t, 5, target.Servers(o))
	require.Equal(t, []string{"s1", "s2", "s3"}, target.Electors(o), "the cache elects nobody")
	require.Equal(t, map[string]string{"agent": "^agent"}, target.Processes)

	y, all := driver(t, s, nil), withServers(3, 5)
	node := y.Container(all[1], all)
	require.Equal(t, []string{"3", "s1=10.0.0.4:9,s2=10.0.0.5:9,s3=10.0.0.6:9", "10.0.0.7:6379,10.0.0.8:6379", "n1,n2,n3"}, node.Command)
	require.Equal(t, map[string]string{"/etc/a": "me n2"}, node.Files)
	require.Equal(t, []string{"NET_ADMIN"}, node.Capabilities)
	require.Equal(t, []string{"s2", "s1", "s2", "s3"}, y.Container(all[4], all).Command, "a server knows servers of its own alone")
	require.Equal(t, []string{"2", "10.0.0.7:6379,10.0.0.8:6379"}, y.Container(all[7], all).Command)
	service := y.(election.Service)
	require.Equal(t, "known:2", service.ServerImage(all[3]).Ref)
	require.Equal(t, "redis:7", service.ServerImage(all[7]).Ref)

	one := driver(t, s, map[string]string{"stores": "1", "store-version": "1"})
	all = withServers(2, 3)
	require.Equal(t, "known:1", one.(election.Service).ServerImage(all[2]).Ref)
	require.Equal(t, "s1=10.0.0.3:9", one.Container(all[0], all).Command[1])

	var ran []string
	one.(election.Executor).Use(func(_ context.Context, m election.Member, command []string) ([]byte, error) {
		ran = append([]string{m.Name}, command...)
		return nil, nil
	})
	require.NoError(t, one.(election.Bootstrapper).Bootstrap(t.Context(), all, unreached))
	require.Equal(t, []string{"n1", "/bin/form", "n1,n2"}, ran)
}

// A majority of a service is one of all its servers.
func TestAllServersVote(t *testing.T) {
	_, err := Parse("mine.yaml", []byte(strings.Replace(served, "system: known,", "system: known, options: {voting: 2},", 1)))
	require.ErrorContains(t, err, "2 of 3 servers vote")
}

// A server that the file describes is there while it accepts connections.
func TestServersAreAskedWhetherTheyAnswer(t *testing.T) {
	y, all := driver(t, parse(t, served), nil), withServers(3, 5)
	down := errors.New("refused")
	var dialed int
	up := y.Observer(all[7], all, func(_ context.Context, port int) (net.Conn, error) {
		dialed = port
		a, _ := net.Pipe()
		return a, nil
	})
	_, _, err := up.Observe(t.Context())
	require.NoError(t, err)
	require.Equal(t, 6379, dialed)
	refuse := func(context.Context, int) (net.Conn, error) { return nil, down }
	_, _, err = y.Observer(all[7], all, refuse).Observe(t.Context())
	require.ErrorIs(t, err, down)
	require.ErrorIs(t, y.(election.Readier).Ready(t.Context(), all[7], all, refuse), down)
}

// A service that nobody elects through is there for something else.
func TestAServiceBesideNodesThatElectAmongThemselves(t *testing.T) {
	target := parse(t, strings.Replace(written, "nodes: 1", "nodes: 1, elects: false", 1)).Target("mine.yaml")
	o, err := target.Parse(nil)
	require.NoError(t, err)
	require.Equal(t, 1, target.Servers(o))
	require.NotNil(t, target.Electors)
	require.Empty(t, target.Electors(o))
}

func TestMistakesOfServices(t *testing.T) {
	for _, c := range []struct{ line, instead, want, way string }{
		{"system: known", "system: knwn", `11:19: unknown target "knwn"`, "known"},
		{"nodes: 2, ", "", "cache: nodes is missing", "nodes: 3"},
		{"nodes: 2", "nodes: 0", `cache: "0" servers`, "1 to 9"},
		{"elects: false", "elects: false, ready: {in-turn: true}", "cache: in-turn: servers of a service are not started in turn", "nodes may be"},
		{"elects: false", "elects: true", "the nodes elect through 2 of them", "elects: false"},
		{"system: known", "system: known, ports: {a: 1}", "ports beside system", "options"},
		{"ports: {client: 6379}, ", "", `unknown word in braces "client"`, "known"},
		{`{servers "cache"`, `{servers "cash"`, `unknown service "cash"`, "known: cache, store"},
		{"{addr}:{client}\"}}', '{{mem", "{addr}:{clent}\"}}', '{{mem", `unknown word in braces "clent"`, `did you mean "client"?`},
		{"[NET_ADMIN]", "[net]", `capabilities: "net" is none`, "NET_ADMIN"},
		{"[NET_ADMIN]", "[NET_ADMN]", `capabilities: "NET_ADMN" is none`, `did you mean "NET_ADMIN"?`},
		{"/etc/a:", "etc/a:", `"etc/a" is not the whole path`, "/etc/server.yaml"},
		{"{match: '^agent'}", "{match: '('}", "missing closing )", "regexp/syntax"},
		{"{match: '^agent'}", "{}", "agent: match is missing", "PATTERN"},
		{"version: '{{param \"store-version\"}}'", "version: 9", `"9" is not one of 1, 2`, ""},
		{"image: a", "image: {debian: []}", "debian: no package is named", "redis-server"},
		{"image: a", "image: {debian: [dash, -oDir::Bin::dpkg=/x]}", `debian: "-oDir::Bin::dpkg=/x" cannot be a package's name`, "redis-server"},
		{"image: a", "binary: {package: ., cover: [./..., '-o x']}", `cover: "-o x" cannot be a pattern of packages`, "github.com/hashicorp/raft"},
		{"image: a", "binary: {package: ., tags: [netgo, -toolexec=x]}", `tags: "-toolexec=x" cannot be a build tag`, "netgo"},
		{"image: a", "image: {debian: ['dash -y']}", `debian: "dash -y" cannot be`, "redis-server"},
		{"image: a", "image: {debian: [../x.deb]}", `debian: "../x.deb" cannot be`, "redis-server"},
		{"image: a", "image: {}", "image: debian is missing", "name one"},
	} {
		require.Contains(t, served, c.line)
		_, err := Parse("mine.yaml", []byte(strings.Replace(served, c.line, c.instead, 1)))
		require.ErrorContains(t, err, c.want, c.instead)
		require.Regexp(t, `^spec: mine\.yaml:[0-9]+:[0-9]+: [^\n]+$`, err.Error(), c.instead)
		require.Contains(t, hint.Of(err), c.way, "%s: %v", c.instead, err)
	}
	s := parse(t, strings.Replace(served, "image: a", "image: {debian: [redis-server, dash]}", 1))
	require.Equal(t, "redis-server dash", s.Image.Debian)
	s = parse(t, strings.Replace(served, "image: a", "image: {debian: [libstdc++6, 'etcd-server:amd64=3.4.23*', 'git=1:2.39.5-0+deb12u2']}", 1))
	require.Equal(t, "libstdc++6 etcd-server:amd64=3.4.23* git=1:2.39.5-0+deb12u2", s.Image.Debian)
}
