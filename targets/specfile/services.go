package specfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"recount/election"
	"recount/internal/hint"
	"recount/internal/option"
	"recount/targets"
)

// Services are what the nodes elect through, or use besides, at most one of them the former: servers in containers of their own, which faults can hit.

// Service is one of them: servers of a system that Recount knows, or servers that the file describes.
type Service struct {
	Name    string
	Nodes   *template.Template // how many servers
	Elects  bool               // the nodes elect through it: its majority decides
	First   bool               // what comes after it is started once its servers are ready
	System  string             // the name of a target whose servers they are; "" if the file describes them
	Options map[string]*template.Template
	Own     *Spec // what a server is, where the file describes it; it has the ports
}

const serviceWay = "services: {store: {system: etcd, version: 3.6.16, nodes: 3}}, or an image, command and ports in the place of system"

// readServices reads the services in the file's order, which their servers are numbered in: s1, s2, …
func (s *Spec) readServices(_ value, f map[string]value) error {
	v, ok := f["services"]
	if !ok {
		return nil
	}
	err := v.each(func(key, val value) error {
		if !nameRule.MatchString(key.Value) {
			return key.bad("use letters from a to z, digits, - and _", "%q cannot be the name of a service", key.Value)
		}
		one := &Service{Name: key.Value, Elects: true, Own: &Spec{File: s.File, Name: key.Value, Parameters: s.Parameters}}
		if err := one.read(s, val); err != nil {
			return err
		}
		s.Services = append(s.Services, one)
		return nil
	})
	if err != nil {
		return err
	}
	if n := len(s.electing()); n > 1 {
		return v.bad("elects: false says that a service is not what the nodes elect through; with none, they elect among themselves",
			"services: the nodes elect through %d of them", n)
	}
	return nil
}

func (one *Service) read(s *Spec, v value) error {
	known := []string{"system", "version", "options", "nodes", "elects", "first"}
	described := []string{"image", "dockerfile", "binary", "command", "environment", "files", "capabilities", "ports", "data", "log", "shared", "workdir", "ready"}
	f, err := v.fields(append(known, described...)...)
	if err != nil {
		return err
	}
	nodes, ok := f["nodes"]
	if !ok {
		return v.bad(serviceWay, "%s: nodes is missing: how many servers?", one.Name)
	}
	if one.Nodes, err = s.template(nodes); err != nil {
		return err
	}
	for _, is := range []part[*bool]{{"elects", &one.Elects}, {"first", &one.First}} {
		if at, ok := f[is.name]; ok {
			if *is.of, err = at.boolean(); err != nil {
				return err
			}
		}
	}
	example, err := s.example()
	if err != nil {
		return err
	}
	if _, err := one.count(example); err != nil {
		return &fault{nodes.Line, nodes.Column, err}
	}
	system, ok := f["system"]
	if !ok {
		return one.describe(v, f)
	}
	for _, field := range described {
		if at, ok := f[field]; ok {
			return at.bad("options: {NAME: VALUE}; recount list targets says which", "%s: %s beside system, which decides it", one.Name, field)
		}
	}
	if one.System, err = system.text(); err != nil {
		return err
	}
	one.Options = map[string]*template.Template{}
	if o, ok := f["options"]; ok {
		if err := o.each(func(key, val value) error {
			one.Options[key.Value], err = s.template(val)
			return err
		}); err != nil {
			return err
		}
	}
	if at, ok := f["version"]; ok {
		if one.Options["version"], err = s.template(at); err != nil {
			return err
		}
	}
	n, err := one.count(example)
	if err == nil {
		_, err = one.driver(example, n)
	}
	if err != nil {
		return &fault{system.Line, system.Column, err}
	}
	return nil
}

// describe reads what a server is that the file describes.
func (one *Service) describe(v value, f map[string]value) error {
	own := one.Own
	for _, read := range []func(value, map[string]value) error{own.readImage, own.readPorts, own.readContainer, own.readReady} {
		if err := read(v, f); err != nil {
			return err
		}
	}
	if own.Ready.InTurn {
		return f["ready"].bad("nodes may be, by a ready of their own", "%s: in-turn: servers of a service are not started in turn", one.Name)
	}
	if _, ok := own.port(); !ok && own.Ready.Command == nil {
		return v.bad("ports: {client: 6379}, or ready: {tcp: …}", "%s: nothing tells whether a server answers", one.Name)
	}
	return nil
}

// port is what a server of a service is asked at whether it is there.
func (s *Spec) port() (int, bool) {
	switch {
	case s.Ready.HTTP != nil:
		return s.Ready.HTTP.Port, true
	case s.Ready.TCP != 0:
		return s.Ready.TCP, true
	case len(s.Ports) > 0:
		return s.Ports[slices.Sorted(maps.Keys(s.Ports))[0]], true
	}
	return 0, false
}

// electing are the services that the nodes elect through.
func (s *Spec) electing() []*Service {
	return slices.DeleteFunc(slices.Clone(s.Services), func(one *Service) bool { return !one.Elects })
}

// count is how many servers the service has.
func (one *Service) count(w words) (int, error) {
	text, err := w.render(one.Nodes)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 || n > 9 {
		return 0, hint.Add(fmt.Errorf("%s: %q servers", one.Name, text), "a service has 1 to 9")
	}
	return n, nil
}

// driver makes what runs the servers, with the options that a run has.
func (one *Service) driver(w words, n int) (election.System, error) {
	if one.System == "" {
		own, err := one.Own.system(w.options)
		return &server{own}, err
	}
	t, err := targets.Find(one.System)
	if err != nil {
		return nil, err
	}
	if t = t.On(true, nil); t.System == nil || t.Servers != nil || targets.IsFile(one.System) {
		return nil, hint.Add(fmt.Errorf("%s: %s has no servers that could serve others", one.Name, one.System), "%s", serviceWay)
	}
	given := map[string]string{}
	for name, value := range one.Options {
		if given[name], err = w.render(value); err != nil {
			return nil, err
		}
	}
	o, err := t.Parse(given)
	if err != nil {
		return nil, err
	}
	if t.Voters != nil {
		if ids, err := t.Voters(o, n); err != nil || len(ids) < n {
			return nil, cmp.Or(err, hint.Add(fmt.Errorf("%d of %d servers vote", len(ids), n), "leave the option voters out: a majority is one of all servers"))
		}
	}
	return t.System(o)
}

// service is a Service in one run.
type service struct {
	*Service
	election.System
	from, to int // its servers among all servers
}

// keepsData tells whether its servers have a disk.
func (one *service) keepsData() bool {
	if k, says := one.System.(election.DataKeeper); says {
		data, _ := k.KeepData()
		return data
	}
	all := unplaced(one.to - one.from)
	return len(all) > 0 && one.Container(all[0], all).Data != ""
}

// servicesOf makes the services of one run.
func (s *Spec) servicesOf(o option.Values) (all []*service, err error) {
	w := words{s: s, options: o, all: unplaced(1), tried: true}
	w.self = w.all[0]
	from := 0
	for _, one := range s.Services {
		n, err := one.count(w)
		if err != nil {
			return nil, fmt.Errorf("spec: services: %w", err)
		}
		driver, err := one.driver(w, n)
		if err != nil {
			return nil, fmt.Errorf("spec: services: %s: %w", one.Name, err)
		}
		all = append(all, &service{one, driver, from, from + n})
		from += n
	}
	return all, nil
}

// countServers is how many servers a run has, and electors are those of them that the nodes elect through.
func (s *Spec) countServers(o option.Values) (count int) {
	count, _ = s.serversOf(o)
	return count
}

func (s *Spec) electors(o option.Values) (names []string) {
	_, names = s.serversOf(o)
	return names
}

func (s *Spec) serversOf(o option.Values) (count int, electors []string) {
	all, err := s.servicesOf(o)
	if err != nil {
		return 0, nil // System says why
	}
	for _, one := range all {
		for i := one.from; i < one.to && one.Elects; i++ {
			electors = append(electors, fmt.Sprintf("s%d", i+1))
		}
		count = one.to
	}
	return count, electors
}

// split returns the nodes and the servers of all members, servers last. A node may be looked at without its servers.
func (y *system) split(all []election.Member) (nodes, servers []election.Member) {
	count := 0
	if n := len(y.services); n > 0 {
		count = y.services[n-1].to
	}
	if len(all) <= count {
		return all, nil
	}
	return all[:len(all)-count], all[len(all)-count:]
}

// of are the service's among all servers.
func (one *service) of(servers []election.Member) []election.Member {
	if len(servers) < one.to {
		return nil
	}
	return servers[one.from:one.to]
}

// serving is the service that a server belongs to, with its servers.
func (y *system) serving(self election.Member, all []election.Member) (*service, []election.Member) {
	_, servers := y.split(all)
	at := slices.IndexFunc(servers, func(m election.Member) bool { return m.Name == self.Name })
	for _, one := range y.services {
		if one.from <= at && at < one.to {
			return one, one.of(servers)
		}
	}
	return nil, nil
}

// meet takes note of a server, whose log is to be read.
func (y *system) meet(self election.Member, all []election.Member) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.met == nil {
		y.met = map[election.ID]election.Member{}
	}
	y.met[self.ID], y.among = self, all
}

// readServersLog lets a server's own driver read its log: it may go by it. What it says of an election is not the nodes'.
func (y *system) readServersLog(self election.Member, line string) {
	y.mu.Lock()
	all := y.among
	y.mu.Unlock()
	one, servers := y.serving(self, all)
	id := self.ID
	if _, own := one.System.(*server); own {
		self, _ = counted(self, servers)
		id = self.ID
	}
	if r, can := one.System.(election.LogReader); can {
		r.ReadLog(id, line)
	}
}

// ServerImage is what a server runs.
func (y *system) ServerImage(self election.Member) election.Image {
	at, err := strconv.Atoi(strings.TrimPrefix(self.Name, "s"))
	for _, one := range y.services {
		if err == nil && one.from < at && at <= one.to {
			return one.Image()
		}
	}
	return election.Image{}
}

// server runs servers that the file describes. They are asked for nothing but whether they answer.
type server struct{ *system }

func (y *server) Container(self election.Member, all []election.Member) election.Container {
	self, all = counted(self, all)
	return y.system.Container(self, all)
}

// counted are servers with ids of their own: 1, 2, …
func counted(self election.Member, all []election.Member) (election.Member, []election.Member) {
	all = slices.Clone(all)
	for i := range all {
		all[i].ID, all[i].Server = election.ID(i+1), false
		if all[i].Name == self.Name {
			self = all[i]
		}
	}
	return self, all
}

// Ready asks as the file says, or whether the server answers at all.
func (y *server) Ready(ctx context.Context, self election.Member, all []election.Member, dial election.Dial) error {
	self, all = counted(self, all)
	if r := y.Spec.Ready; r.HTTP != nil || r.TCP != 0 || r.Command != nil || r.Log != nil {
		return y.system.Ready(ctx, self, all, dial)
	}
	return y.reach(ctx, self, all, dial)
}

func (y *server) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	self, all = counted(self, all)
	return &reacher{y.system, self, all, dial}
}

// reacher asks a server whether it is there.
type reacher struct {
	server *system
	self   election.Member
	all    []election.Member
	dial   election.Dial
}

func (r *reacher) Observe(ctx context.Context) (election.Status, bool, error) {
	return election.Status{}, false, r.server.reach(ctx, r.self, r.all, r.dial)
}

func (r *reacher) Close() error { return nil }

// reach connects to a server. One that stands still accepts connections nevertheless: that is for its answers to show,
// where it is asked by HTTP.
func (y *system) reach(ctx context.Context, self election.Member, all []election.Member, dial election.Dial) error {
	if at := y.Spec.Ready.HTTP; at != nil {
		_, err := y.getOnce(ctx, at, self, all, dial)
		return err
	}
	port, ok := y.port()
	if !ok {
		return errSilent
	}
	conn, err := dial(ctx, port)
	if err != nil {
		return err
	}
	return conn.Close()
}

// readyServer asks whether a server has come up.
func (y *system) readyServer(ctx context.Context, self election.Member, all []election.Member, dial election.Dial) error {
	one, servers := y.serving(self, all)
	if r, can := one.System.(election.Readier); can {
		return r.Ready(ctx, self, servers, dial)
	}
	o := one.Observer(self, servers, dial)
	_, _, err := o.Observe(ctx)
	return errors.Join(err, o.Close())
}

// useAll tells the services' drivers how commands are run.
func (y *system) useAll(exec election.Exec) {
	for _, one := range y.services {
		if e, can := one.System.(election.Executor); can {
			e.Use(exec)
		}
	}
}

// patience is how long the slowest of nodes and servers may take.
func (y *system) patience() time.Duration {
	longest := y.Spec.Ready.Within
	for _, one := range y.services {
		if r, can := one.System.(election.Readier); can {
			longest = max(longest, r.Patience())
		}
	}
	return longest
}

// unreached is what a template's example has for servers.
func (s *Spec) unreached(w words) map[string][]election.Member {
	places := map[string][]election.Member{}
	for _, one := range s.Services {
		n, err := one.count(w)
		if err != nil {
			n = 1
		}
		for i := range n {
			m := unplaced(i + 1)[i]
			m.Name, m.Server = fmt.Sprintf("s%d", i+1), true
			places[one.Name] = append(places[one.Name], m)
		}
	}
	return places
}

// endpoints lists the servers of a service: each as the text in each says, which knows the service's own ports.
func (w words) endpoints(name, separator, each string) (string, error) {
	var known []string
	for _, one := range w.s.Services {
		if one.Name == name {
			var parts []string
			for _, m := range w.servers[name] {
				part, err := words{s: one.Own, options: w.options}.fill(each, m)
				if err != nil {
					return "", err
				}
				parts = append(parts, part)
			}
			return strings.Join(parts, separator), nil
		}
		known = append(known, one.Name)
	}
	if len(known) == 0 {
		return "", hint.Add(fmt.Errorf("unknown service %q", name), "%s", serviceWay)
	}
	return "", hint.Unknown("service", name, known)
}
