package specfile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"text/template"
	"time"

	"recount/election"
	"recount/internal/hint"
	"recount/internal/option"
)

// system runs what a spec describes, for one run.
type system struct {
	*Spec
	options  option.Values
	services []*service
	copied   map[string]string // files, as they are on this machine

	mu      sync.Mutex
	exec    election.Exec
	unread  func(self election.ID, err error) // told of lines; may be nil
	met     map[election.ID]election.Member   // servers, as they were met
	among   []election.Member                 // all members, as they were met
	own     directory
	readers map[election.ID]*reader
	seen    map[election.ID]bool // nodes whose log has said that they are ready
	leads   map[election.ID]bool // or, last, that they lead
	asked   map[question]asking  // as they were filled

	roster *roster // nil where members cannot be changed

	kept     kept
	founding int // how many of the questions that make a cluster of the nodes were answered well
}

// What harness asks of it and of its observers by these types: a method that was lost would be passed over without a word.
var (
	_ election.Sourced     = (*system)(nil)
	_ election.Fitting     = (*system)(nil)
	_ election.DataKeeper  = (*system)(nil)
	_ election.Quoter      = (*observer)(nil)
	_ election.RoleCounter = (*observer)(nil)
)

// System returns the driver of what the spec describes, with the target's options.
func (s *Spec) System(o option.Values) (election.System, error) {
	own, err := s.system(o)
	if err != nil {
		return nil, err
	}
	var y election.System = own
	switch {
	case !s.Observe.Asks():
		y = &logged{own}
	case s.Members.given():
		own.roster = newRoster()
		y = &changing{own}
	}
	if s.Register.given() {
		y = keeps(y)
	}
	return y, nil
}

func (s *Spec) system(o option.Values) (y *system, err error) {
	y = &system{Spec: s, options: o, readers: map[election.ID]*reader{}, seen: map[election.ID]bool{}, leads: map[election.ID]bool{}, asked: map[question]asking{}}
	if err := s.try(o); err != nil {
		return nil, err
	}
	if len(s.Times.Silence) > 0 { // servers have no times
		if _, err := s.Times.check(o); err != nil {
			return nil, fmt.Errorf("spec: %w", err)
		}
	}
	if y.services, err = s.servicesOf(o); err != nil {
		return nil, err
	}
	if _, is := os.Stat(s.File); is == nil { // beside a node there is the file's text, and nothing of this machine
		if err := s.certified(); err != nil {
			return nil, err
		}
		y.copied, err = s.copies()
	}
	return y, err
}

// try fills the templates of nodes with the options of a run: what was sound with the defaults may not be with others.
func (s *Spec) try(o option.Values) error {
	w, err := s.example()
	if err != nil {
		return err
	}
	w.options = o
	if s.Writes.Command != nil {
		writing := w
		writing.write = &election.Write{Token: 1, Value: 1}
		if _, err := writing.renderAll(s.Writes.Command); err != nil {
			return hint.Or(fmt.Errorf("spec: writes: %s", plain(err)), err, "is the value of a parameter what it should be?")
		}
	}
	unsound := func(t *template.Template, err error) error {
		return hint.Or(fmt.Errorf("spec: %s: %s", t.Name(), plain(err)), err, "is the value of a parameter what it should be?")
	}
	for _, at := range s.gets() {
		if _, err := w.asking(at); err != nil {
			return unsound(at.Path, err)
		}
	}
	all := slices.Concat(s.Command, s.Ready.Command, s.Resign.templates(), s.told().templates(), s.Observe.Command, s.Observe.Identifies,
		slices.Collect(maps.Values(s.Environment)), slices.Collect(maps.Values(s.Files)))
	for _, one := range []*template.Template{s.Folder, s.Ready.Match} {
		if one != nil {
			all = append(all, one)
		}
	}
	changing, putting := w, w
	changing.member = &w.all[len(w.all)-1]
	putting.put = new(uint64)
	for _, some := range []struct {
		words
		all []*template.Template
	}{{w, all}, {changing, slices.Concat(s.Members.templates(), s.Bootstrap.requests().templates())}, {putting, s.Register.templates()}} {
		for _, t := range some.all {
			if _, err := some.render(t); err != nil {
				return unsound(t, err)
			}
		}
	}
	return nil
}

// told are the requests of what each node is told besides: that it was started, and to begin and to end faults.
func (s *Spec) told() requests { return append(s.PostStart.requests(), s.ownRequests()...) }

// Image is what nodes run. The folder of a package may differ from one value of a parameter to another, as with versions.
func (y *system) Image() election.Image {
	image := y.Spec.Image
	if w, err := y.example(); err == nil && y.Folder != nil {
		w.options = y.options
		if folder, err := w.render(y.Folder); err == nil { // it was tried with these options
			image.Package = y.ofFolder(folder)
		}
	}
	return image
}

func (y *system) words(self election.Member, all []election.Member) words {
	nodes, servers := y.split(all)
	w := words{s: y.Spec, options: y.options, self: self, all: nodes, servers: map[string][]election.Member{}, said: y.kept.now(), joined: y.roster.lives()}
	for _, one := range y.services {
		w.servers[one.Name] = one.of(servers)
	}
	return w
}

// reader returns self's, which is made when self is first met.
func (y *system) reader(self election.Member, all []election.Member) *reader {
	y.mu.Lock()
	defer y.mu.Unlock()
	if r := y.readers[self.ID]; r != nil {
		return r
	}
	r, err := y.Spec.reader(y.words(self, all), &y.own)
	if err != nil {
		panic(err) // Fits has tried it
	}
	y.readers[self.ID] = r
	return r
}

// KeepData tells whether nodes have a disk, and whether servers of services do, before there are any.
func (y *system) KeepData() (nodes, servers bool) {
	return y.Data != "", slices.ContainsFunc(y.services, (*service).keepsData)
}

func (y *system) Container(self election.Member, all []election.Member) election.Container {
	if one, servers := y.serving(self, all); one != nil {
		y.meet(self, all)
		return one.Container(self, servers)
	}
	c, err := y.container(y.words(self, all))
	if err != nil {
		panic(err) // Fits has tried it
	}
	return c
}

func (y *system) container(w words) (c election.Container, err error) {
	c = election.Container{Data: y.Data, Shared: y.Shared, Dir: y.Workdir, Capabilities: y.Capabilities, Files: map[string]string{}}
	if c.Command, err = w.renderAll(y.Command); err != nil {
		return c, err
	}
	if y.Log != nil {
		if c.Log, err = w.render(y.Log); err != nil {
			return c, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(y.Environment)) {
		text, err := w.render(y.Environment[name])
		if err != nil {
			return c, err
		}
		c.Env = append(c.Env, name+"="+text)
	}
	maps.Copy(c.Files, y.copied)
	for _, name := range slices.Sorted(maps.Keys(y.Files)) {
		if c.Files[name], err = w.render(y.Files[name]); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Fits tells what cannot be started or asked of a run's members. System has tried the templates on one node of three; what is sound
// there may not be for the fourth. What it has let pass makes neither Container nor Observer panic.
func (y *system) Fits(all []election.Member) error {
	for _, m := range all {
		if one, servers := y.serving(m, all); one != nil {
			own, can := one.System.(*server)
			if !can {
				continue
			}
			if m, servers = counted(m, servers); m.ID > 1 {
				continue // they were tried with the first
			}
			if err := own.Fits(servers); err != nil {
				return err
			}
			continue
		}
		w := y.words(m, all)
		w.said = y.Spec.Bootstrap.assumed()
		err := y.fits(w)
		if err == nil {
			_, err = y.Spec.reader(w, &directory{})
		}
		if err == nil && y.Members.given() {
			w.joined = map[election.ID]int{m.ID: 1}
			err = y.fits(w)
		}
		if err != nil {
			return hint.Or(fmt.Errorf("spec: of %s: %s", m.Name, plain(err)), err,
				"a template is filled for each member of a run, with its own {{.ID}} and {{.Name}}")
		}
	}
	return nil
}

// fits tells what the node that w is seen from cannot be started with, or asked by.
func (y *system) fits(w words) error {
	_, err := y.container(w)
	for _, at := range y.gets() {
		if err == nil {
			_, err = w.asking(at)
		}
	}
	for _, t := range y.told().templates() {
		if err == nil {
			_, err = w.render(t)
		}
	}
	return err
}

// Use tells how commands are run in the nodes' containers.
func (y *system) Use(exec election.Exec) {
	y.exec = exec
	y.useAll(exec)
}

// Observed is how nodes are asked.
func (y *system) Observed() election.Way {
	switch {
	case y.Observe.HTTP != nil && y.Observe.HTTP.fromHere():
		return election.FromHere
	case y.Observe.HTTP != nil:
		return election.OverDial
	case y.Observe.Asks():
		return election.ByCommand
	default:
		return election.ByLogs
	}
}

// Encrypted reports whether nodes are asked over TLS.
func (y *system) Encrypted() bool {
	return slices.ContainsFunc(y.endpoints(), func(at *Endpoint) bool { return at.TLS })
}

func (y *system) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	if one, servers := y.serving(self, all); one != nil {
		y.meet(self, all)
		return one.Observer(self, servers, dial)
	}
	return &observer{system: y, reader: y.reader(self, all), self: self, all: all, client: client(dial, y.Observe.HTTP)}
}

// observer asks one node for its view.
type observer struct {
	*system
	reader *reader
	self   election.Member
	all    []election.Member
	client *http.Client

	mu     sync.Mutex
	answer []byte
}

func (o *observer) Observe(ctx context.Context) (election.Status, bool, error) {
	answer, err := o.ask(ctx)
	if err != nil {
		return election.Status{}, false, fmt.Errorf("spec: observe %s: %w", o.self.Name, err)
	}
	o.mu.Lock()
	o.answer = answer
	o.mu.Unlock()
	st, err := o.reader.view(answer)
	if err != nil {
		return election.Status{}, false, fmt.Errorf("spec: observe %s: %w", o.self.Name, unreadable{err})
	}
	return st, o.Spec.Observe.Torn, nil
}

// Answer is what the node said last, as it said it.
func (o *observer) Answer() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.answer
}

// Roles are the words that the node has said of its role, and how often each.
func (o *observer) Roles() map[string]int {
	o.reader.mu.Lock()
	defer o.reader.mu.Unlock()
	return maps.Clone(o.reader.roles)
}

func (o *observer) ask(ctx context.Context) ([]byte, error) {
	if at := o.Spec.Observe.HTTP; at != nil {
		return o.get(ctx, o.client, at, o.self, o.all)
	}
	return o.run(ctx, o.self, o.all, o.Spec.Observe.Command)
}

func (o *observer) Close() error {
	o.client.CloseIdleConnections()
	return nil
}

func (y *system) run(ctx context.Context, self election.Member, all []election.Member, command []*template.Template) ([]byte, error) {
	return y.runIn(ctx, y.words(self, all), command)
}

// runIn runs a command in the container of the node that w is seen from.
func (y *system) runIn(ctx context.Context, w words, command []*template.Template) ([]byte, error) {
	if y.exec == nil {
		return nil, errNoExec
	}
	args, err := w.renderAll(command)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return nil, hint.Add(fmt.Errorf("of the command nothing is left on %s", w.self.Name), "its words are templates, and what comes to nothing is left out: sh, -c, '{{if …}}…{{end}}' always has something to run")
	}
	return y.exec(ctx, w.self, args)
}

var errNoExec = errors.New("commands cannot be run from here")

// Ready asks whether a node's server has come up: nil means that it has.
func (y *system) Ready(ctx context.Context, self election.Member, all []election.Member, dial election.Dial) error {
	if one, _ := y.serving(self, all); one != nil {
		return y.readyServer(ctx, self, all, dial)
	}
	switch r := y.Spec.Ready; {
	case r.HTTP != nil:
		answer, err := y.getOnce(ctx, r.HTTP, self, all, dial)
		if err != nil || r.Match == nil {
			return err
		}
		re, err := y.words(self, all).compile(r.Match)
		if err == nil && !re.Match(answer) {
			err = fmt.Errorf("%#q matches nothing in the answer %#q", re, clip(answer))
		}
		return err
	case r.TCP != 0:
		conn, err := dial(ctx, r.TCP)
		if err != nil {
			return err
		}
		return conn.Close()
	case r.Command != nil:
		_, err := y.run(ctx, self, all, r.Command)
		return err
	case r.Log != nil:
		y.mu.Lock()
		defer y.mu.Unlock()
		if !y.seen[self.ID] {
			return fmt.Errorf("no line of its log matches %q", r.Log)
		}
		return nil
	case !y.Observe.Asks():
		return nil // its log will tell
	}
	o := y.Observer(self, all, dial)
	_, _, err := o.Observe(ctx)
	return errors.Join(err, o.Close())
}

// Patience is how long nodes may take to come up.
func (y *system) Patience() time.Duration { return y.patience() }

// ReadLog reads a line of a node's log.
func (y *system) ReadLog(self election.ID, line string) (election.Status, bool) {
	y.mu.Lock()
	server, is := y.met[self]
	y.mu.Unlock()
	if is {
		y.readServersLog(server, line)
		return election.Status{}, false
	}
	if l := y.Spec.Ready.Log; l != nil && l.MatchString(line) {
		y.mu.Lock()
		y.seen[self] = true
		y.mu.Unlock()
	}
	y.mu.Lock()
	r := y.readers[self]
	y.mu.Unlock()
	if r == nil {
		return election.Status{}, false
	}
	st, announces, err := r.line(line)
	if announces {
		y.mu.Lock()
		y.leads[self] = st.Role == election.Leader
		y.mu.Unlock()
	}
	if err != nil && y.unread != nil {
		y.unread(self, fmt.Errorf("%w; the line is %#q", err, clip([]byte(line))))
	}
	return st, announces
}

// announced reports whether the last that a node's log has told is that it leads.
func (y *system) announced(self election.ID) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.leads[self]
}

// OnUnreadLine has f called with why a line could not be read. It is called before any is.
func (y *system) OnUnreadLine(f func(self election.ID, err error)) { y.unread = f }

// logged is a system whose nodes tell by their logs alone.
type logged struct{ *system }

// Observer returns one that gets no answers: what a node once wrote is not what it would say now.
func (l *logged) Observer(self election.Member, all []election.Member, dial election.Dial) election.Observer {
	if self.Server {
		return l.system.Observer(self, all, dial)
	}
	l.reader(self, all)
	return silent{}
}

type silent struct{}

var errSilent = errors.New("spec: its log alone tells")

func (silent) Observe(context.Context) (election.Status, bool, error) {
	return election.Status{}, false, errSilent
}

func (silent) Close() error { return nil }
