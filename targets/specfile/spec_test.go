package specfile

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/internal/option"
	_ "recount/internal/testseed" // the same cases each time
	"recount/targets"
)

// sound is a spec without mistakes; tests break one line of it.
const sound = `name: mine
image: server:1
command: ["--id={{.ID}}", "--peers={{others \",\" \"{name}=http://{addr}:{peer}\"}}", "{{if eq .ID 2}}--two{{end}}"]
environment: {TIMEOUT: '{{ms "timeout"}}', PEER: '{{port "peer"}}'}
ports: {http: 80, peer: 81}
data: /data
parameters: {timeout: 1s, heartbeat: {default: 100ms, about: beat}, mode: {default: a, choices: [a, b], breaks: [elects]}, on: true}
times: {silence: 2 * timeout + 500ms, elect: 10 * timeout}
ready: {http: /health, port: http, within: 20s}
observe: {http: /status, port: http, role: {at: r.state, leader: [L]}, term: term, leader: lead, logs: [{match: 'leads (?P<term>\d+)', role: leader}]}
promises: [elects, {property: monotonic-term, while: disks hold}]
`

func parse(t *testing.T, text string) *Spec {
	t.Helper()
	s, err := Parse("folder/mine.yaml", []byte(text))
	require.NoError(t, err)
	return s
}

func members(n int) (all []election.Member) {
	for id := election.ID(1); int(id) <= n; id++ {
		all = append(all, election.Member{ID: id, Name: id.String(), Addr: netip.AddrFrom4([4]byte{10, 0, 0, byte(id)})})
	}
	return all
}

func driver(t *testing.T, s *Spec, given map[string]string) election.System {
	t.Helper()
	o, err := option.Parse(s.Name, s.Parameters, given)
	require.NoError(t, err)
	y, err := s.System(o)
	require.NoError(t, err)
	return y
}

func TestWhatNodesAreGiven(t *testing.T) {
	y := driver(t, parse(t, sound), map[string]string{"timeout": "1.5s"})
	all := members(3)
	require.Equal(t, election.Image{Ref: "server:1"}, y.Image())
	c := y.Container(all[1], all)
	require.Equal(t, []string{"--id=2", "--peers=n1=http://10.0.0.1:81,n3=http://10.0.0.3:81", "--two"}, c.Command)
	require.Equal(t, []string{"PEER=81", "TIMEOUT=1500"}, c.Env)
	require.Equal(t, "/data", c.Data)
	require.Len(t, y.Container(all[0], all).Command, 2, "what comes to nothing is left out")
	empty := driver(t, parse(t, strings.Replace(sound, "--id={{.ID}}", "", 1)), nil)
	require.Empty(t, empty.Container(all[1], all).Command[0], "what is written as nothing is an empty word")
	counted := driver(t, parse(t, strings.Replace(sound, "--id={{.ID}}", "--id={{.Index}}", 1)), nil)
	require.Equal(t, "--id=1", counted.Container(all[1], all).Command[0])
}

// The file that a node writes its log to may be called after it.
func TestALogThatIsAFile(t *testing.T) {
	y := driver(t, parse(t, strings.Replace(sound, "data: /data", "data: /data\nlog: '/data/{{.Name}}.log'", 1)), nil)
	all := members(3)
	require.Equal(t, "/data/n2.log", y.Container(all[1], all).Log)
	require.Empty(t, driver(t, parse(t, sound), nil).Container(all[1], all).Log)
}

// Configurations have braces of their own around what is said of each node.
func TestAListOfBlocks(t *testing.T) {
	all := members(2)
	for each, want := range map[string]string{
		`node {\n addr: {addr}\n id: {id}\n}`: "node {\n addr: 10.0.0.1\n id: 1\n};node {\n addr: 10.0.0.2\n id: 2\n}",
		`{\"{name}\": {peer}}`:                `{"n1": 81};{"n2": 81}`,
		`{name} { backup }`:                   "n1 { backup };n2 { backup }",
		`{name}={index}`:                      "n1=0;n2=1",
		`{name} { peer 1 } {id}`:              "n1 { peer 1 } 1;n2 { peer 1 } 2",
		`{name} { weight 1 } {`:               "n1 { weight 1 } {;n2 { weight 1 } {",
		`{name} { }`:                          "n1 { };n2 { }",
	} {
		text := strings.Replace(sound, `"{{if eq .ID 2}}--two{{end}}"`, `'{{members ";" "`+each+`"}}'`, 1)
		require.Equal(t, want, driver(t, parse(t, text), nil).Container(all[0], all).Command[2], each)
	}
}

// One other node is named by its address: the first, whom all others join.
func TestOneOtherNode(t *testing.T) {
	of := func(argument string) (election.System, error) {
		s, err := Parse("mine.yaml", []byte("image: a\nports: {peer: 81}\ntimes: {silence: 1s}\nobserve: {http: /, role: role}\ncommand: ['"+argument+"']\n"))
		if err != nil {
			return nil, err
		}
		o, err := option.Parse(s.Name, s.Parameters, nil)
		require.NoError(t, err)
		return s.System(o)
	}
	y, err := of(`{{if ne .ID 1}}--peer=http://{{addr 1}}:{{port "peer"}}{{end}}`)
	require.NoError(t, err)
	all := members(3)
	require.Empty(t, y.Container(all[0], all).Command)
	require.Equal(t, []string{"--peer=http://10.0.0.1:81"}, y.Container(all[2], all).Command)
	all[0].Addr = netip.MustParseAddr("fd00::1")
	require.Equal(t, []string{"--peer=http://[fd00::1]:81"}, y.Container(all[2], all).Command, "as it stands before a port")

	y, err = of("{{addr 5}}")
	require.NoError(t, err, "how many nodes there will be is not known")
	fits := y.(interface {
		Fits(all []election.Member) error
	}).Fits
	require.NoError(t, fits(members(5)))
	err = fits(members(3))
	require.ErrorContains(t, err, "addr: there is no n5 among 3 nodes")
	require.Equal(t, "take --nodes 5 or more, or say {{if ge .Size 5}}…{{end}}", hint.Of(err))
	_, err = of("{{addr 0}}")
	require.ErrorContains(t, err, "addr: there is no node 0")
}

// The engine mounts files of its own over some: what a spec says of them would be silently lost.
func TestFilesOfTheEngine(t *testing.T) {
	for _, file := range []string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"} {
		for _, content := range []string{"a", "{from: ./a}"} {
			_, err := Parse("mine.yaml", []byte("image: a\nfiles: {"+file+": "+content+"}\n"))
			require.ErrorContains(t, err, "mine.yaml:2:9: files: the engine puts a "+file+" of its own over it")
			require.Contains(t, hint.Of(err), "{{addr 1}}")
		}
	}
}

func TestATargetOfASpec(t *testing.T) {
	target := parse(t, sound).Target("x/mine.yaml")
	o, err := target.Parse(nil)
	require.NoError(t, err)
	b := target.Bounds(o)
	require.Equal(t, 2500*time.Millisecond, b.Silence)
	require.Equal(t, 10*time.Second, b.Elect)
	require.Equal(t, 50*time.Millisecond, b.Poll)
	require.False(t, target.NoTerms)
	promised, while := target.Promised(o, "monotonic-term")
	require.True(t, promised)
	require.Equal(t, "disks hold", while)
	o, err = target.Parse(map[string]string{"mode": "b"})
	require.NoError(t, err)
	promised, _ = target.Promised(o, "elects")
	require.False(t, promised, "an option that breaks it takes the promise away")
	require.Equal(t, target.Definition, []byte(sound), "a node's writer is told all of it")
	require.False(t, target.Multicast)
	require.True(t, parse(t, sound+"multicast: true\n").Target("x/mine.yaml").Multicast)
	require.False(t, target.Shared)
	require.True(t, parse(t, sound+"shared: /data-of-all\n").Target("x/mine.yaml").Shared)
}

// What nodes are made of may be missing on this machine: that is told before anything is started, and where the file names it.
func TestWhatIsMissingToMakeNodesOf(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "server"), nil, 0o755))
	for image, want := range map[string]string{
		"image: server:1":           "",
		"binary: ./server":          "",
		"binary: {package: .}":      "",
		"binary: ./serverr":         "mine.yaml:1:9: binary: there is no file ",
		"binary: .":                 "mine.yaml:1:9: binary: there is no file ",
		"binary: {package: server}": "mine.yaml:1:9: binary: there is no folder ",
		"binary: {package: example.com/server@v1.0.0}":                              "mine.yaml:1:9: binary: there is no folder ",
		"dockerfile: Dockerfile":                                                    "mine.yaml:1:13: dockerfile: there is no file ",
		"image: a\nservices: {store: {nodes: 1, binary: none, ports: {client: 1}}}": "mine.yaml:2:38: binary: there is no file ",
	} {
		s, err := Parse(filepath.Join(dir, "mine.yaml"), []byte(image+"\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /, leader: leader}\n"))
		require.NoError(t, err, image)
		err = driver(t, s, nil).(interface{ There() error }).There()
		if want == "" {
			require.NoError(t, err, image)
			continue
		}
		require.ErrorContains(t, err, want, image)
		require.Contains(t, hint.Of(err), "paths begin at the file's folder")
	}
}

// Of two mistakes in one mapping always the same is told.
func TestTheFirstMistakeIsTold(t *testing.T) {
	for text, want := range map[string]string{
		"binary: {}\ndockerfile: ''\nimage: {}\n": "image: debian is missing",
		"binary: {}\ndockerfile: ''\n":            "dockerfile is empty",
		"source: []\nabout: []\nname: []\n":       "name is not a single value",
		"image: a\nports: {p: 1}\ntimes: {silence: 1s}\nobserve: {http: /, tls: {}, leader: l}\n":                                               "tls: certificate is missing",
		"image: a\nports: {p: 1}\ntimes: {silence: 1s}\nobserve: {http: /, role: {at: r, follower: {}, candidate: {}, leader: {}}}\n":           "leader is not a single value",
		"image: a\nports: {p: 1}\ntimes: {silence: 1s}\nobserve: {http: /, leader: l}\nresign: {command: [a], body: b, headers: {}, port: p}\n": "resign: port goes with http",
	} {
		for range 20 {
			_, err := Parse("mine.yaml", []byte(text))
			require.ErrorContains(t, err, want, text)
		}
	}
}

func TestPathsBeginAtTheFilesFolder(t *testing.T) {
	s := parse(t, strings.Replace(sound, "image: server:1", "binary: ../bin/server", 1))
	require.Equal(t, "bin/server", filepath.ToSlash(s.Image.Binary))
	s = parse(t, strings.Replace(sound, "image: server:1", "binary: {package: ../cmd/server}", 1))
	require.Equal(t, "cmd/server", filepath.ToSlash(s.Image.Package))
	s = parse(t, strings.Replace(sound, "image: server:1", "binary: {package: '../cmd/{{param \"timeout\"}}'}", 1))
	target := s.Target("mine")
	options, err := target.Parse(map[string]string{"timeout": "3s"})
	require.NoError(t, err)
	system, err := target.System(options)
	require.NoError(t, err)
	require.Equal(t, "cmd/3s", filepath.ToSlash(system.Image().Package))
	s = parse(t, strings.Replace(sound, "image: server:1", "binary: {package: ../cmd/server, tags: [netgo, without_ui]}", 1))
	require.Equal(t, "netgo,without_ui", driver(t, s, nil).Image().Tags)
	s = parse(t, strings.Replace(sound, "image: server:1", "binary: {package: ../cmd/server, cover: [./..., github.com/hashicorp/raft]}", 1))
	require.Equal(t, "./...,github.com/hashicorp/raft", driver(t, s, nil).Image().Cover)
	s = parse(t, strings.Replace(sound, "image: server:1", "dockerfile: /src/Dockerfile", 1))
	require.Equal(t, "/src/Dockerfile", filepath.ToSlash(s.Image.Dockerfile))
}

func TestATargetIsFoundByItsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	_, err := targets.Find(file)
	require.ErrorContains(t, err, "no such file")
	require.NoError(t, os.WriteFile(file, []byte(sound), 0o644))
	found, err := targets.Find(file)
	require.NoError(t, err)
	require.Equal(t, file, found.Name)
}

// Each mistake is told by its line and column, and with a way out of it.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ line, instead, want, way string }{
		{"name: mine", "namee: mine", `1:1: unknown field "namee"`, `did you mean "name"?`},
		{"name: mine", "name: a/b", `1:7: name: "a/b" is no name`, "letters"},
		{"name: mine", "name: mine\nname: mine", "2:1: name is given twice", "leave one"},
		{"name: mine", "name: [", "this is no YAML", "one comma"},
		{"image: server:1", "about: x", "1:1: nothing to run", "image"},
		{"image: server:1", "image: server:1\nbinary: ./x", "more than one of image, dockerfile and binary", "name one"},
		{"image: server:1", "image: ''", `2:8: image is empty`, "name one"},
		{"data: /data", "data: '/data-{{.ID}}'", `6:7: data: "/data-{{.ID}}": it takes no template`, "one folder for all nodes"},
		{"data: /data", "data: /data\nvoters: [n1, m2]", `7:14: voters: "m2" is no node`, "voters: [n1"},
		{"data: /data", "data: /data\nvoters: [n1, n1]", `7:14: voters: n1 is named twice`, "leave one"},
		{"data: /data", "data: /data\nvoters: []", `7:9: voters: nobody is named`, "voters: [n1"},
		{"data: /data", "data: /data\nvoters: '{{.ID}}'", `7:9: voters: of n1 the template says "1"`, "le .ID 3"},
		{"data: /data", "data: /data\nvoters: '{{.Voter}}{{voters \",\" \"{id}\"}}'", `who votes cannot rest on who votes`, "voters: [n1"},
		{"data: /data", "data: /data\nmulticast: yes", `7:12: multicast: "yes" is neither true nor false`, "true or false"},
		{"data: /data", "data: /data\nshared: /", `7:9: shared: / is all that the container has`, "/shared"},
		{"data: /data", "data: /data\nshared: /data/all", `7:9: shared: /data/all and data, /data, are not beside each other`, "shared: /shared"},
		{"data: /data", "data: /data\nshared: /data", `7:9: shared: /data and data, /data, are not beside each other`, "shared: /shared"},
		{"data: /data", "data: /all/data\nshared: /all", `7:9: shared: /all and data, /all/data, are not beside each other`, "shared: /shared"},
		{"data: /data", "data: data", `6:7: data: "data" does not begin with /`, "/data"},
		{"data: /data", "data: /data\nlog: server.log", `7:6: log: "server.log" is no such path`, "such as /data/server.log"},
		{"data: /data", "data: /data\nlog: /data/", `7:6: log: "/data/" is no such path`, "such as /data/server.log"},
		{"data: /data", "data: /data\nlog: /dev/stdout", `7:6: log: "/dev/stdout" is no file that lines are appended to`, "standard output and standard error are read in any case"},
		{"data: /data", "data: /data\nlog: '/data/{{.Nam}}'", `7:6: log: `, "{{.Name}}"},
		{"data: /data", "data: /data\nlog: [leads]", "7:6: log: it is the path of one file", "observe: {logs: […]}, alarms or sometimes"},
		{"data: /data", "data: /data\nworkdir: data", `7:10: workdir: "data" does not begin with /`, "/data"},
		{"data: /data", "data: /data\nworkdir: '/{{.ID}}'", `7:10: workdir: "/{{.ID}}": it takes no template`, "one folder for all nodes"},
		{"data: /data", "data: //", `6:7: data: / is all that the container has`, "/data"},
		{"{{.ID}}", "{{.Idd}}", `3:11: command: `, "{{.ID}}"},
		{"{{.ID}}", "{{.ID", `3:11: command: `, "{{.ID}}"},
		{"{{.ID}}", "{{range 2000000000}}a{{end}}", `3:11: command: it comes to more than 65536 bytes`, "too often"},
		{"{{.ID}}", "{{range 200000000}}{{end}}", `3:11: command: it does not end within 1000000 rounds`, "too often"},
		{"{addr}:{peer}", "{addr}:{pier}", `unknown word in braces "pier"`, `did you mean "peer"?`},
		{"{addr}:{peer}", "{addr}:{peer", `a brace is not closed`, "braces"},
		{"{addr}:{peer}", "{addr}:{ peer }", `unknown word in braces " peer "`, `did you mean "peer"?`},
		{`{{ms "timeout"}}`, `{{ms "timeuot"}}`, `4:24: TIMEOUT: `, `did you mean "timeout"?`},
		{`{{ms "timeout"}}`, `{{ms "mode"}}`, `parameter mode is "a": no duration`, "param"},
		{`{{port "peer"}}`, `{{port "pear"}}`, `unknown port "pear"`, `did you mean "peer"?`},
		{"http: 80", "http: 80000", `5:15: port http: "80000" is no port`, "65535"},
		{"http: 80", "http: 81", `5:25: port peer: 81 is port http already`, "one name"},
		{"http: 80", "addr: 80", `5:9: a port cannot be named "addr"`, "taken"},
		{"timeout: 1s", "timeout: {about: x}", "parameter timeout has no default", "default: VALUE"},
		{"timeout: 1s", "timeout: {default: 1s, kind: time}", `unknown kind "time"`, "duration"},
		{"breaks: [elects]", "breaks: [elect]", `unknown property "elect"`, `did you mean "elects"?`},
		{"choices: [a, b]", "choices: [b]", `"a" is not one of b`, "mode"},
		{"silence: 2 * timeout", "silence: 2 * timeuot", `8:18: silence: "timeuot" is neither a duration nor a parameter`, "parameters: timeout"},
		{"silence: 2 * timeout", "silence: two * timeout", `silence: "two" is no number`, "sum"},
		{"silence: 2 * timeout + 500ms", "silence: mode", "parameter mode is no duration", "unit"},
		{"silence: 2 * timeout + 500ms, ", "", "8:8: times: silence is missing", "silence: 1s"},
		{"elect: 10 * timeout", "elect: 2 * timeout", `8:46: elect: 2s is no longer than silence, 2.5s`, "elect: 10 * 2.5s"},
		{"elect: 10 * timeout", "elect: 10 * timeout, poll: 1us", `poll: 1µs is too often`, "50ms"},
		{"elect: 10 * timeout", "elect: 10 * timeout, poll: 20s", `poll: 20s is longer than silence`, "50ms"},
		{"silence: 2 * timeout + 500ms, elect: 10 * timeout", "silence: 40ms", `8:8: poll: 50ms is longer than silence, 40ms`, "10ms is usual"},
		{"leader: lead", "leader: {at: lead, named: boss}", `named: n1 and n2 would both be called "boss"`, "named: 'node-{{.ID}}'"},
		{"term: term, leader", "term: {at: term, of: all}, leader", `term: of "all"`, "of: leader"},
		{"term: term, leader", "term: {of: leader}, leader", `term: at is missing`, "at: FIELD"},
		{"term: term, leader", "term: {at: term, first: 1}, leader", `term: first is "1"`, "first: 0"},
		{"term: term, leader", "term: {at: term, of: leader, first: 0}, leader", `term: first is "0"`, "each node tells a term"},
		{"times:", "about: x\ntims:", `9:1: unknown field "tims"`, `did you mean "times"?`},
		{"/health, port: http", "health, port: http", `9:15: http: "health" does not begin with /`, "/status"},
		{"/health, port: http", "/health", `http: which of the ports?`, "port: NAME"},
		{"/health, port: http", "/health, port: htp", `unknown port "htp"`, `did you mean "http"?`},
		{"within: 20s", "within: 20", `within: "20" is not a positive duration`, "unit"},
		{"within: 20s", "tcp: http", "ready: more than one way", "tcp"},
		{"http: /health, port: http, within: 20s", "log: '{{.Name}} is up'", `log: "{{.Name}} is up" is a pattern, and no template`, "the same for all nodes"},
		{"http: /health, port: http, within: 20s", `log: 'on {{ port "http" }}'`, `is a pattern, and no template`, "the same for all nodes"},
		{"within: 20s", "in-turn: often", `in-turn: "often" is neither true nor false`, ""},
		{"role: {at: r.state, leader: [L]}, term: term, leader: lead, ", "", "neither role nor leader is given", "role:"},
		{"r.state", "r..state", `"r..state" is no path into JSON`, "raft.term"},
		{"r.state", "'s[{{.Index}}].state'", `role: "s[{{.Index}}].state" is a path, and no template`, "what is asked is one"},
		{"at: r.state, ", "", "role: at is missing", "at: FIELD"},
		{"http: /status, port: http", "command: [a], http: /status, port: http", "more than one of http, metrics and command", "observe:"},
		{"http: /status, port: http", "http: /status, port: http, match: '(a'", "missing closing )", "regexp/syntax"},
		{"http: /status, port: http", "http: /status, port: http, match: '(?P<r>a)'", `unknown group of match "r.state"`, "known: r"},
		{"http: /status, port: http", "metrics: /m, port: http", `"r.state" names no metric`, "label"},
		{"role: leader}]", "role: king}]", `unknown role "king"`, "leader"},
		{`(?P<term>\d+)`, `(\d+)`, "the election has terms, and this line tells none", "term"},
		{`(?P<term>\d+)`, `(?P<turn>\d+)`, `not "turn"`, "term"},
		{"term: term, leader", "leader", "this line tells a term, and the node's answers tell none", "observe: {term: FIELD}"},
		{", role: leader}]", "}]", "role is missing", "role: leader"},
		{"leader: lead,", "leader: lead, id: {},", "id: one of at and log is wanted", "id: {at: FIELD}"},
		{"leader: lead,", "leader: lead, id: {log: 'a'},", "id: the pattern has no group id", "(?P<id>"},
		{"leader: lead,", "leader: {at: lead, table: {a: b}},", `table: "b" is no node`, "table:"},
		{"logs: [", "logs: {standing: true}, l: [", `unknown field "l"`, "logs"},
		{"logs: [{match: 'leads (?P<term>\\d+)', role: leader}]", "logs: {standing: true}", "logs: lines is missing", "standing: true"},
		{"logs: [{match: 'leads (?P<term>\\d+)', role: leader}]", "logs: {standing: true, lines: []}", "nodes are asked", "leave standing out"},
		{"[elects, ", "[elect, ", `unknown property "elect"`, `did you mean "elects"?`},
		{"[elects, ", "[elects, elects, ", `promises: elects is given twice`, "leave one"},
		{"property: monotonic-term, ", "", "promises: property is missing", "elects"},
	} {
		require.Contains(t, sound, c.line)
		_, err := Parse("mine.yaml", []byte(strings.Replace(sound, c.line, c.instead, 1)))
		require.ErrorContains(t, err, c.want, c.instead)
		require.Regexp(t, `^spec: mine\.yaml:[0-9]+:[0-9]+: [^\n]+$`, err.Error(), c.instead)
		require.Contains(t, hint.Of(err), c.way, "%s: %v", c.instead, err)
	}
	_, err := Parse("mine.yaml", nil)
	require.ErrorContains(t, err, "the file says nothing")
	_, err = Parse("mine.yaml", []byte("image: a\nports: {p: 1}\ntimes: {silence: 1s}\nobserve: {http: /, leader: l}\npromises: [single-leader-per-term]\n"))
	require.ErrorContains(t, err, "5:12: promises: single-leader-per-term speaks of terms")
	require.Contains(t, hint.Of(err), "exclusive-leadership")
}

// A node whose log tells its term only now and then would be held to have forgotten it.
func TestAllLinesTellATermOrNone(t *testing.T) {
	of := func(lines string) error {
		_, err := Parse("mine.yaml", []byte("image: a\ntimes: {silence: 1s}\nobserve: {logs: {standing: true, lines: ["+lines+"]}}\n"))
		return err
	}
	const won, lost = `{match: 'won (?P<term>\d+)', role: leader}`, `{match: lost, role: follower}`
	for _, lines := range []string{won + ", " + lost, lost + ", " + won} {
		require.ErrorContains(t, of(lines), "the election has terms, and this line tells none")
	}
	require.NoError(t, of(won+`, {match: 'lost (?P<term>\d+)', role: follower}`))
	require.NoError(t, of(`{match: won, role: leader}, `+lost))
}

// Where leaders alone tell their terms, others' lines need none.
func TestLinesOfLeadersAloneTellTheirTerm(t *testing.T) {
	const won, lost = `{match: 'won (?P<term>\d+)', role: leader}`, `{match: lost, role: follower}`
	nodes := ofThree(t, "{term: {of: leader}, logs: {standing: true, lines: ["+won+", "+lost+"]}}")
	st, announces, err := nodes[0].line("lost")
	require.NoError(t, err)
	require.True(t, announces)
	require.Equal(t, election.Status{}, st)
	require.True(t, nodes[0].HasTerms())
	require.True(t, nodes[0].Target("mine.yaml").Tokens)
	for lines, want := range map[string]string{
		won + `, {match: leads, role: leader}`:     "the election has terms, and this line tells none",
		won + `, {match: '(?P<leader>\S+) leads'}`: "the election has terms, and this line tells none",
		`{match: won, role: leader}, ` + lost:      "term: no line tells one",
	} {
		_, err := Parse("mine.yaml", []byte("image: a\ntimes: {silence: 1s}\nobserve: {term: {of: leader}, logs: ["+lines+"]}\n"))
		require.ErrorContains(t, err, want)
	}
}

// Leaders tell their tenure by each of their lines, or by none, as they do in answers.
func TestLinesOfLeadersTellTheirTenure(t *testing.T) {
	const won, lost = `{match: 'won no\. (?P<tenure>\d+)', role: leader}`, `{match: lost, role: follower}`
	for _, asked := range []string{"", "http: /, role: role, tenure: since, "} {
		nodes := ofThree(t, "{"+asked+"logs: ["+won+", "+lost+", {match: '(?P<leader>n\\d) since (?P<tenure>\\d+)'}]}")
		for line, want := range map[string]election.Status{
			"won no. 7":     {Role: election.Leader, Leader: 1, Tenure: 7},
			"n1 since 1234": {Role: election.Leader, Leader: 1, Tenure: 1234},
			"n2 since 1234": {Leader: 2},
			"lost":          {},
		} {
			st, announces, err := nodes[0].line(line)
			require.NoError(t, err)
			require.True(t, announces)
			require.Equal(t, want, st)
		}
		_, announces, err := nodes[0].line("won no. 0")
		require.False(t, announces)
		require.ErrorContains(t, err, "its tenure is")
	}
	for observe, want := range map[string]string{
		"{logs: [" + won + ", {match: leads, role: leader}]}":                                      "leaders tell their tenure, and this line tells none",
		"{http: /, role: role, tenure: since, logs: [{match: leads, role: leader}, " + lost + "]}": "leaders tell their tenure, and this line tells none",
		"{http: /, role: role, logs: [" + won + ", " + lost + "]}":                                 "this line tells a tenure, and the node's answers tell none",
		"{tenure: since, logs: [" + won + "]}":                                                     "tenure: nothing is asked",
	} {
		_, err := Parse("mine.yaml", []byte("image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: "+observe+"\n"))
		require.ErrorContains(t, err, want)
	}
}

// Who says nothing until it leads begins as a follower, without a term.
func TestWhatNodesBeginAs(t *testing.T) {
	const won, lost = `{match: 'won (?P<term>\d+)', role: leader}`, `{match: lost, role: follower}`
	nodes := ofThree(t, "{term: {of: leader}, logs: {standing: true, begins: follower, lines: ["+won+", "+lost+"]}}")
	require.Equal(t, &history.View{Role: history.Follower}, nodes[0].Target("mine.yaml").Begins)
	for observe, want := range map[string]string{
		"{term: {of: leader}, logs: {begins: follower, lines: [" + won + ", " + lost + "]}}":                              "logs: begins, where no line holds until the next",
		"{term: {of: leader}, logs: {standing: true, begins: leader, lines: [" + won + ", " + lost + "]}}":                `"leader"`,
		`{logs: {standing: true, begins: follower, lines: [` + won + `, {match: 'lost (?P<term>\d+)', role: follower}]}}`: "nodes begin without a line, and so without a term",
	} {
		_, err := Parse("mine.yaml", []byte("image: a\ntimes: {silence: 1s}\nobserve: "+observe+"\n"))
		require.ErrorContains(t, err, want)
	}
}

// A line that all nodes write alike says who leads; the one that it names is the leader, by its own line too.
func TestALineWithoutARole(t *testing.T) {
	nodes := ofThree(t, `{logs: {standing: true, lines: [{match: 'coordinator: (?P<leader>[0-9.:]+)'}, {match: 'lost', role: follower}]}}`)
	line := "coordinator: " + members(3)[1].Addr.String() + ":8080"
	for i, role := range []election.Role{election.Follower, election.Leader, election.Follower} {
		st, announces, err := nodes[i].line(line)
		require.NoError(t, err)
		require.True(t, announces)
		require.Equal(t, election.Status{Role: role, Leader: 2}, st)
	}
	st, _, err := nodes[1].line("lost")
	require.NoError(t, err)
	require.Equal(t, election.Status{}, st)
}

// Who is known by lines of logs alone may have names of a pattern, too, or of none.
func TestLinesNameLeadersByNamesOfTheirOwn(t *testing.T) {
	const logs = `logs: [{match: 'my boss is (?P<leader>[\w-]+)', role: follower}]`
	for leader, name := range map[string]string{
		`{named: 'node-{{.ID}}'}`:                   "node-2",
		`{table: {alpha: n1, beta: n2, gamma: n3}}`: "beta",
	} {
		st, announces, err := ofThree(t, "{leader: "+leader+", "+logs+"}")[0].line("my boss is " + name)
		require.NoError(t, err)
		require.True(t, announces)
		require.Equal(t, election.Status{Leader: 2}, st)
	}
	for observe, complaint := range map[string]string{
		"{leader: {nobody: vacant}, logs: [{match: won, role: leader}]}": "leader: no line names one",
		"{leader: {at: boss}, " + logs + "}":                             "leader: nothing is asked",
		"{match: '(?P<term>.)', " + logs + "}":                           "observe: match is of answers",
	} {
		_, err := Parse("mine.yaml", []byte("image: a\ntimes: {silence: 1s}\nobserve: "+observe+"\n"))
		require.ErrorContains(t, err, complaint)
	}
}

// Where a server's terms begin with 0, a leader's first is 1 by its lines, too.
func TestTermsOfLinesThatBeginWithZero(t *testing.T) {
	for _, fields := range []string{"term: {first: 0}", "http: /, leader: lead, term: {at: view, first: 0}"} {
		st, announces, err := readerOf(t, "{"+fields+`, logs: [{match: 'view (?P<term>\d+) of (?P<leader>n\d)'}]}`).line("view 0 of n2")
		require.NoError(t, err)
		require.True(t, announces)
		require.Equal(t, election.Status{Role: election.Leader, Term: 1, Leader: 2}, st)
	}
}

func TestTheTemplateReadsWell(t *testing.T) {
	text, err := Template("mine.yaml", `C:\with "quotes"\recount`)
	require.NoError(t, err)
	s := parse(t, string(text))
	require.Empty(t, s.Missing())
	all := members(3)
	c := driver(t, s, nil).Container(all[0], all)
	require.Equal(t, []string{"example", "--id=n1", "--joined=0", "--data=/data/0", "--listen=:8080", "--peers=n2=http://10.0.0.2:8080,n3=http://10.0.0.3:8080", "--timeout=500ms"}, c.Command)
	require.Contains(t, string(text), `{{members "," "{name}=http://{addr}:{http}"}}`, "the comments show templates as they are written")
	require.Contains(t, string(text), `/etc/node.conf: 'id = {{.ID}}'`)
	require.Contains(t, string(text), "{debian: [python3]}")
}

// The same is said of a spec wherever its nodes are tried.
func TestWhatIsMissingIsMissingEverywhere(t *testing.T) {
	s := parse(t, "image: a\nports: {p: 1}\ntimes: {silence: 1s}\nobserve: {http: /, role: role}\n")
	require.NotContains(t, strings.Join(s.Missing(), "\n"), "in containers")
}

func TestAPromiseThatNoRunTestsIsTold(t *testing.T) {
	s := parse(t, "image: a\nports: {p: 1}\ntimes: {silence: 1s}\nobserve: {http: /, role: role, term: term}\npromises: [vote-once, elects]\n")
	require.Contains(t, s.Missing(), "what vote-once is judged by: nodes of a spec file tell no votes, so that this promise is never tested")
}

// Whether nodes name a leader decides how long a run waits for them to agree.
func TestWhoNamesALeader(t *testing.T) {
	for observe, names := range map[string]bool{
		"{http: /, leader: lead.id}": true,
		"{http: /, role: role}":      false,
		`{logs: [{match: 'leads (?P<term>\d+)', role: leader}, {match: 'n(?P<leader>\d+) leads (?P<term>\d+)', role: follower}]}`: true,
		`{logs: [{match: 'n(?P<leader>\d+) is it', role: leader}, {match: 'lost', role: follower}]}`:                              false,
		`{http: /, role: role, logs: [{match: 'leads', role: leader}, {match: 'n(?P<leader>\d+) leads', role: follower}]}`:        false,
	} {
		s := parse(t, "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: "+observe+"\n")
		require.Equal(t, !names, s.Target("mine.yaml").NoLeaderNames, observe)
	}
	s := parse(t, "image: a\nports: {http: 80}\ntimes: {silence: 1s}\nobserve: {http: /, leader: lead.id}\n")
	require.Equal(t, "lead.id", s.Lacks([]byte(`{"lead":{}}`)))
	require.Equal(t, "lead", s.Lacks([]byte(`{}`)))
	require.Empty(t, s.Lacks([]byte(`{"lead":{"id":null}}`)), "it is there")
	require.Empty(t, s.Lacks([]byte(`oops`)), "that is no answer")
}

// No text makes the reader panic, and every mistake has its place.
func TestAnyText(t *testing.T) {
	lines := strings.SplitAfter(sound, "\n")
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.Permutation(lines).Draw(t, "lines")[:rapid.IntRange(0, len(lines)).Draw(t, "some")], ""))
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			if len(text) > 0 {
				text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("{}[]:,'\" \n-ax1*&!")).Draw(t, "to")
			}
		}
		s, err := Parse("mine.yaml", text)
		if err != nil {
			require.Regexp(t, `(?s)^spec: mine\.yaml:[0-9]+:[0-9]+: `, err.Error())
			require.NotEmpty(t, hint.Of(err), err.Error())
			return
		}
		o, err := option.Parse(s.Name, s.Parameters, nil)
		require.NoError(t, err)
		y, err := s.System(o)
		require.NoError(t, err)
		all := members(2)
		y.Container(all[1], all)
		require.NoError(t, y.Observer(all[0], all, nil).Close())
	})
}

func TestObserversByLogAloneAnswerNothing(t *testing.T) {
	text := sound[:strings.Index(sound, "observe:")] + `observe: {logs: [{match: 'n(?P<leader>\d) leads (?P<term>\d+)', role: follower}, {match: 'I lead (?P<term>\d+)', role: leader}]}` + "\n"
	s := parse(t, text)
	y, all := driver(t, s, nil), members(3)
	o := y.Observer(all[0], all, nil)
	_, _, err := o.Observe(context.Background())
	require.ErrorContains(t, err, "its log alone tells")
	reader, ok := y.(election.LogReader)
	require.True(t, ok)
	st, ok := reader.ReadLog(1, "12:00 n3 leads 7")
	require.True(t, ok)
	require.Equal(t, election.Status{Role: election.Follower, Term: 7, Leader: 3}, st)
	st, ok = reader.ReadLog(1, "I lead 8")
	require.True(t, ok)
	require.Equal(t, election.Status{Role: election.Leader, Term: 8, Leader: 1}, st)
	var unread []error
	y.(election.LineCritic).OnUnreadLine(func(self election.ID, err error) {
		require.Equal(t, election.ID(1), self)
		unread = append(unread, err)
	})
	st, ok = reader.ReadLog(1, "n9 leads 9")
	require.True(t, ok, "whoever it follows, it leads no more")
	require.Equal(t, election.Status{Role: election.Unknown, Term: 9}, st, "a follower without a leader would know of none")
	require.Len(t, unread, 1)
	require.ErrorContains(t, unread[0], `leader "9" is none of the nodes; the line is `+"`n9 leads 9`")
	_, ok = reader.ReadLog(1, "n2 leads 99999999999999999999")
	require.False(t, ok)
	require.Len(t, unread, 2)
	require.ErrorContains(t, unread[1], `term "99999999999999999999" is more than 64 bits hold`)
	_, ok = reader.ReadLog(1, "nothing")
	require.False(t, ok)
	require.Len(t, unread, 2)
	require.NoError(t, o.Close())
}

// A parameter whose default is no time at all may be none, and a time that it makes up alone may not.
func TestAParameterMayBeNoTime(t *testing.T) {
	const spec = "image: a\nports: {http: 80}\nparameters: {delay: 0s, grace: {default: 0s, kind: duration}, timeout: 1s}\n" +
		"times: {silence: SILENCE}\nobserve: {http: /s, role: role}\ncommand: ['{{ms \"delay\"}}', '{{seconds \"grace\"}}']\n"
	s := parse(t, strings.Replace(spec, "SILENCE", "2 * timeout + delay", 1))
	tg := s.Target("a.yaml")
	for delay, silence := range map[string]time.Duration{"0s": 2 * time.Second, "300ms": 2300 * time.Millisecond} {
		o, err := tg.Parse(map[string]string{"delay": delay})
		require.NoError(t, err)
		require.Equal(t, silence, tg.Bounds(o).Silence)
	}
	for name, bad := range map[string]string{"delay": "-1s", "grace": "soon", "timeout": "0s"} {
		_, err := tg.Parse(map[string]string{name: bad})
		require.ErrorContains(t, err, "option "+name)
	}

	s = parse(t, strings.Replace(spec, "SILENCE", "delay", 1))
	o, err := s.Target("a.yaml").Parse(nil)
	require.NoError(t, err)
	_, err = s.System(o)
	require.ErrorContains(t, err, "spec: times: silence or elect comes to nothing")
	require.NotEmpty(t, hint.Of(err))
}

// Times that make sense by default may make none with an option.
func TestTimesThatAnOptionBreaks(t *testing.T) {
	of := func(times, timeout string) error {
		s := parse(t, "image: a\nports: {http: 80}\nparameters: {timeout: 1s}\ntimes: "+times+"\nobserve: {http: /, role: role}\n")
		o, err := s.Target("a.yaml").Parse(map[string]string{"timeout": timeout})
		require.NoError(t, err)
		_, err = s.System(o)
		return err
	}
	for _, c := range []struct{ times, timeout, want, hint string }{
		{"{silence: timeout, poll: 500ms}", "400ms", "spec: poll: 500ms is longer than silence, 400ms: whole leaderships would pass between two answers", "50ms is usual"},
		{"{silence: timeout}", "40ms", "spec: poll: 50ms is longer than silence, 40ms: whole leaderships would pass between two answers", "10ms is usual"},
		{"{silence: timeout, elect: 10s}", "10s", "spec: elect: 10s is no longer than silence, 10s, for which nobody need campaign", "elect: 10 * 10s leaves room; without it, it is ten silences and 5s"},
	} {
		err := of(c.times, c.timeout)
		require.EqualError(t, err, c.want)
		require.Equal(t, c.hint, hint.Of(err))
		require.NoError(t, of(c.times, "1s"))
	}
}

// What is sound for one node of three need not be for the fourth of five: the run is refused before it begins.
func TestATemplateThatFailsForALaterNode(t *testing.T) {
	type fits interface {
		Fits(all []election.Member) error
	}
	for _, instead := range []string{"command: ['--x={{slice \"abc\" .ID}}']", "command: [a]\nfiles: {/etc/a: '{{slice \"abc\" .ID}}'}"} {
		text := strings.Replace(sound, sound[strings.Index(sound, "command: "):strings.Index(sound, "environment: ")], instead+"\n", 1)
		y := driver(t, parse(t, text), nil).(fits)
		require.NoError(t, y.Fits(members(3)))
		err := y.Fits(members(5))
		require.ErrorContains(t, err, "spec: of n4: ")
		require.ErrorContains(t, err, "out of range: 4")
		require.Contains(t, hint.Of(err), "each member")
	}
	asked := driver(t, parse(t, strings.Replace(sound, "/status", `'/{{slice "abc" .ID}}'`, 1)), nil)
	require.ErrorContains(t, asked.(fits).Fits(members(4)), "spec: of n4: ")
	named := driver(t, parse(t, strings.Replace(sound, "leader: lead,", `leader: {at: lead, named: '{{slice "abc" .ID}}'},`, 1)), nil)
	require.ErrorContains(t, named.(fits).Fits(members(4)), "out of range: 4")
}
