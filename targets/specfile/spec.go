// Package specfile is an election described in a file: somebody's own server, in an image of theirs, without a line of Go. A
// spec says what to run on each node, how to ask a node who leads, and what the election promises.
//
// Wherever a target is named, the path of a spec file names the target that it describes.
package specfile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"text/template"
	"time"

	"recount/election"
	"recount/history"
	"recount/internal/hint"
	"recount/internal/option"
	"recount/targets"
)

// Spec is a file that was read and found sound.
type Spec struct {
	File   string // as it was named
	Text   []byte // what it says
	Name   string
	About  string
	Source string

	made        value              // where the file says what nodes are made of
	Image       election.Image     // exactly one of its ways is set; the folder of a package is that of the defaults
	Folder      *template.Template // of the package that is built; nil where none is
	Command     []*template.Template
	Environment map[string]*template.Template
	Files       map[string]*template.Template // by their whole paths
	Copied      map[string]string             // files of this machine, by the whole paths that they have in the container
	// Capabilities are those of Linux that the server's process has besides the engine's default.
	Capabilities []string
	Bootstrap    Bootstrap
	PostStart    PostStart
	Ports        map[string]int
	Data         string
	Log          *template.Template // the file that the server writes its log to, by its whole path; nil for none
	Shared       string             // the folder that nodes share; "" for none
	Workdir      string             // that the command begins in; "" for the image's own
	Multicast    bool               // the network carries what nodes send to groups, and to addresses that they take besides their own
	Voters       Voters
	Processes    map[string]string // what a node's processes are called, with patterns of their command lines
	Services     []*Service
	Parameters   []option.Option
	Times        Times
	Ready        Ready
	Observe      Observe
	Resign       Request // how a leader is asked to hand over
	Members      Members
	Register     Register
	Writes       Writes
	Alarms       []*regexp.Regexp // lines of a node's log that it writes only if something is wrong with it
	Size         int              // how many nodes its clusters have where nobody says; 0 if that is no matter
	Sometimes    []*regexp.Regexp // and such as are to come sometimes, or little was tested
	Faults       []OwnFault
	Promises     []targets.Promise
}

// Times are the times that the election is judged by, from its parameters.
type Times struct {
	Silence, Elect expression
	Poll           time.Duration
}

// Ready is how it is known that a node's server answers: at most one way is set, and none is to be observed.
type Ready struct {
	HTTP    *Endpoint
	Match   *template.Template // a pattern of what it answers; nil where its status says it all
	TCP     int                // port
	Command []*template.Template
	Log     *regexp.Regexp
	Within  time.Duration
	InTurn  bool // each node is started once the one before it is ready
}

// Endpoint is where nodes answer HTTP.
type Endpoint struct {
	Port   int
	Path   *template.Template
	Status []int // one of which the answer must have
	TLS    bool  // it speaks HTTPS; its certificate is not looked at
	// Certificate and Key are files of this machine, in PEM, by which it is asked where it wants to know by whom.
	Certificate, Key string
	Headers          map[string]*template.Template // that are sent along, by their names
	Method           string                        // by default GET of what is asked for, and POST of what is asked to be done
	Body             *template.Template            // nil for none
}

// Observe is how a node tells who leads. At most one of HTTP and Command is set; Logs may come on top, or alone.
type Observe struct {
	HTTP    *Endpoint
	Command []*template.Template
	Metrics bool           // the answer is Prometheus text
	Match   *regexp.Regexp // the answer is text, and its groups are the fields
	Torn    bool           // answers are put together from several reads
	Role    Field
	Term    Field
	Leader  Field
	Tenure  Field          // which of its leaderships this is, while the node leads
	ID      Field          // what the node calls itself
	IDLog   *regexp.Regexp // a line of its log that tells it, by its group id
	Logs    []LogLine
	// Tokens says that a node tells its term while it leads.
	Tokens bool
	// FromZero says that the first term is 0.
	FromZero bool
	// Standing says that what a line of its log tells holds until another one tells something else.
	Standing bool
	// Begins is what a node is until a line tells something else, where its lines do not say; nil where they do.
	Begins *history.View

	Leads      []string // values of Role
	Campaigns  []string
	Follows    []string // empty where all other words follow; "" is also of who leaves Role out
	Nobody     []string // values of Leader
	Identifies []*template.Template
	Table      map[string]election.ID // what nodes are called, word by word
	Self       []string               // words by which a node means itself
}

// Field is where one thing is found in an answer; nil path and empty names say that it is not there.
type Field struct {
	Path   path   // in JSON
	Group  string // of Match
	Metric Metric
}

// Given reports whether the answer has the field at all.
func (f Field) Given() bool { return len(f.Path) > 0 || f.Group != "" || f.Metric.Name != "" }

func (f Field) String() string {
	if f.Metric.Name != "" {
		return f.Metric.String()
	}
	return cmp.Or(strings.Join(f.Path, "."), f.Group)
}

// LogLine is a line by which a node tells of a change.
type LogLine struct {
	Match *regexp.Regexp // with the groups term and leader, where the line tells them
	Role  election.Role
	Named bool // the line tells no role: the node that it names leads, and the others follow
}

// Load reads the spec file at a path.
func Load(file string) (*Spec, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, syscall.EISDIR) {
		return nil, folder(file)
	}
	if err != nil {
		return nil, hint.Add(fmt.Errorf("spec: %w", err), "recount init FILE writes one to begin with; of a stored run, go to the folder that it was made in")
	}
	return Parse(file, text)
}

// folder says that a folder stands where a spec file is wanted, and which files are in it.
func folder(dir string) error {
	err := fmt.Errorf("spec: %s is a folder", dir)
	var files []string
	entries, _ := os.ReadDir(dir) // nobody can look into it: then none are named
	for _, e := range entries {
		if e.Type().IsRegular() && targets.IsFile(e.Name()) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return hint.Add(err, "name a spec file; recount init %s writes one to begin with", filepath.Join(dir, "election.yaml"))
	}
	return hint.Add(err, "name the spec file in it: %s", strings.Join(files, " or "))
}

// Parse reads a spec. The file's name is for errors, and its folder is where its relative paths begin.
func Parse(file string, text []byte) (*Spec, error) {
	s := &Spec{File: file, Text: text}
	err := s.read()
	var f *fault
	if errors.As(err, &f) {
		return nil, fmt.Errorf("spec: %s:%w", file, err)
	}
	if err != nil {
		return nil, fmt.Errorf("spec: %s: %w", file, err)
	}
	return s, nil
}

func (s *Spec) read() error {
	root, err := document(s.Text)
	if err != nil {
		return err
	}
	f, err := root.fields("name", "about", "source", "image", "dockerfile", "binary", "command", "environment", "files", "capabilities", "bootstrap", "post-start",
		"processes", "ports", "multicast", "data", "log", "shared", "nodes", "workdir", "voters", "services", "parameters", "times", "ready", "observe", "resign", "members", "register", "writes", "alarms", "sometimes", "faults", "promises")
	if err != nil {
		return err
	}
	s.Name = targets.Stem(s.File)
	for _, word := range []part[*string]{{"name", &s.Name}, {"about", &s.About}, {"source", &s.Source}} {
		if v, ok := f[word.name]; ok {
			if *word.of, err = v.text(); err != nil {
				return err
			}
		}
	}
	if v, ok := f["name"]; ok && !nameRule.MatchString(s.Name) {
		return v.bad("use letters from a to z, digits, - and _", "name: %q is no name for a folder of results", s.Name)
	}
	for _, read := range []func(value, map[string]value) error{
		s.readParameters, s.readImage, s.readPorts, s.readVoters, s.readServices, s.readContainer, s.readBootstrap, s.readPostStart, s.readProcesses, s.readTimes,
		s.readReady, s.readObserve, s.readResign, s.readMembers, s.readRegister, s.readWrites, s.readLines, s.readSize, s.readOwnFaults, s.readPromises,
	} {
		if err := read(root, f); err != nil {
			return err
		}
	}
	return nil
}

var nameRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

var parameterKinds = map[string]option.Kind{
	"text": option.Text, "bool": option.Bool, "number": option.Number, "duration": option.Duration, "choice": option.Choice,
}

// readParameters reads what becomes options of the target. A default alone tells its kind by what it looks like.
func (s *Spec) readParameters(_ value, f map[string]value) error {
	v, ok := f["parameters"]
	if !ok {
		return nil
	}
	return v.each(func(key, val value) error {
		if !nameRule.MatchString(key.Value) {
			return key.bad("use letters from a to z, digits, - and _", "parameter %q cannot be an option's name", key.Value)
		}
		o := option.Option{Name: key.Value}
		if !val.isMapping() {
			text, err := val.text()
			if err != nil {
				return err
			}
			o.Default, o.Kind = text, kindOf(text)
			s.Parameters = append(s.Parameters, o)
			return nil
		}
		p, err := val.fields("default", "about", "kind", "choices", "breaks")
		if err != nil {
			return err
		}
		d, ok := p["default"]
		if !ok {
			return val.bad("default: VALUE", "parameter %s has no default", key.Value)
		}
		if o.Default, err = d.text(); err != nil {
			return err
		}
		o.Kind = kindOf(o.Default)
		if a, ok := p["about"]; ok {
			if o.About, err = a.text(); err != nil {
				return err
			}
		}
		if c, ok := p["choices"]; ok {
			if o.Choices, err = c.texts(); err != nil {
				return err
			}
			o.Kind = option.Choice
		}
		if k, ok := p["kind"]; ok {
			word, err := k.text()
			if err != nil {
				return err
			}
			kind, known := parameterKinds[word]
			if !known {
				return &fault{k.Line, k.Column, hint.Unknown("kind", word, []string{"text", "bool", "number", "duration", "choice"})}
			}
			if kind == option.Choice && len(o.Choices) == 0 {
				return k.bad("choices: [one, another]", "parameter %s is a choice, and choices is missing", key.Value)
			}
			if o.Kind = kind; kind == option.Duration {
				o.Kind = duration(o.Default)
			}
		}
		if b, ok := p["breaks"]; ok {
			for _, one := range b.list() {
				property, err := knownProperty(one)
				if err != nil {
					return err
				}
				o.Breaks = append(o.Breaks, property)
			}
		}
		s.Parameters = append(s.Parameters, o)
		if _, err := option.Parse(s.Name, s.Parameters, nil); err != nil {
			return d.bad(hint.Of(err), "%v", err)
		}
		return nil
	})
}

// duration is the kind of a parameter that is one: where none at all is the default, it may be none.
func duration(byDefault string) option.Kind {
	if d, err := time.ParseDuration(byDefault); err == nil && d == 0 {
		return option.Wait
	}
	return option.Duration
}

func kindOf(text string) option.Kind {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 && strings.IndexFunc(text, isLetter) >= 0 {
		return duration(text)
	}
	if text == "true" || text == "false" {
		return option.Bool
	}
	return option.Text
}

func isLetter(c rune) bool { return c >= 'a' && c <= 'z' || c == 'µ' }

func (s *Spec) parameter(name string) *option.Option {
	i := slices.IndexFunc(s.Parameters, func(o option.Option) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Parameters[i]
}

// parameterNames are the names that a spec's author may use.
func (s *Spec) parameterNames() (names []string) {
	for _, o := range s.Parameters {
		names = append(names, o.Name)
	}
	return names
}
