package specfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"

	"recount/internal/hint"
)

// What a node is given: its ports, its command line, its environment, its files and its folders.

func (s *Spec) readPorts(_ value, f map[string]value) error {
	s.Ports = map[string]int{}
	v, ok := f["ports"]
	if !ok {
		return nil
	}
	return v.each(func(key, val value) error {
		text, err := val.text()
		if err != nil {
			return err
		}
		port, err := strconv.Atoi(text)
		if err != nil || port < 1 || port > 65535 {
			return val.bad("a number from 1 to 65535, on which the server listens in its container", "port %s: %q is no port",
				key.Value, text)
		}
		if slices.Contains(placed, key.Value) || !nameRule.MatchString(key.Value) {
			return key.bad("use letters from a to z, digits, - and _; id, index, name and addr are taken", "a port cannot be named %q", key.Value)
		}
		for name, taken := range s.Ports {
			if taken == port {
				return val.bad("give it one name, and use that wherever the port is meant", "port %s: %d is port %s already", key.Value, port, name)
			}
		}
		s.Ports[key.Value] = port
		return nil
	})
}

func (s *Spec) readContainer(_ value, f map[string]value) (err error) {
	if v, ok := f["command"]; ok {
		if s.Command, err = s.templates(v); err != nil {
			return err
		}
	}
	if v, ok := f["multicast"]; ok {
		if s.Multicast, err = v.boolean(); err != nil {
			return err
		}
	}
	for _, read := range []func(map[string]value) error{s.readEnvironment, s.readFiles, s.readCapabilities, s.readFolders, s.readLog} {
		if err := read(f); err != nil {
			return err
		}
	}
	return nil
}

func (s *Spec) readEnvironment(f map[string]value) error {
	s.Environment = map[string]*template.Template{}
	v, ok := f["environment"]
	if !ok {
		return nil
	}
	return v.each(func(key, val value) error {
		t, err := s.template(val)
		s.Environment[key.Value] = t
		return err
	})
}

func (s *Spec) readFiles(f map[string]value) error {
	s.Files, s.Copied = map[string]*template.Template{}, map[string]string{}
	v, ok := f["files"]
	if !ok {
		return nil
	}
	return v.each(func(key, val value) error {
		if !strings.HasPrefix(key.Value, "/") || filepath.ToSlash(filepath.Clean(key.Value)) != key.Value {
			return key.bad("such as /etc/server.yaml", "files: %q is not the whole path of a file", key.Value)
		}
		if slices.Contains(engines, key.Value) {
			return key.bad(`nodes are known by their addresses: {{addr 1}} is that of n1, {{others "," "{addr}"}} those of all others`,
				"files: the engine puts a %s of its own over it, so that nodes would never see this one", key.Value)
		}
		if val.isMapping() {
			return s.readCopied(key, val)
		}
		t, err := s.template(val)
		s.Files[key.Value] = t
		return err
	})
}

func (s *Spec) readCapabilities(f map[string]value) (err error) {
	v, ok := f["capabilities"]
	if !ok {
		return nil
	}
	if s.Capabilities, err = v.texts(); err != nil {
		return err
	}
	for i, name := range s.Capabilities {
		if !slices.Contains(capabilities, strings.TrimPrefix(name, "CAP_")) {
			way := "as Linux calls them: NET_ADMIN, SYS_NICE, IPC_LOCK"
			if near := hint.Near(name, capabilities); near != "" {
				way = fmt.Sprintf("did you mean %q?", near)
			}
			return v.list()[i].bad(way, "capabilities: %q is none", name)
		}
	}
	return nil
}

// readFolders reads where a node keeps its files, what it shares with others, and where its command begins.
func (s *Spec) readFolders(f map[string]value) (err error) {
	for _, folder := range []part[*string]{{"data", &s.Data}, {"shared", &s.Shared}, {"workdir", &s.Workdir}} {
		v, ok := f[folder.name]
		if !ok {
			continue
		}
		if *folder.of, err = v.folder(folder.name); err != nil {
			return err
		}
		if folder.name != "workdir" && strings.Trim(*folder.of, "/") == "" {
			return v.bad("a folder of the container, such as /"+folder.name, "%s: / is all that the container has, the server too", folder.name)
		}
	}
	if own, all := s.Data+"/", s.Shared+"/"; s.Data != "" && s.Shared != "" && (strings.HasPrefix(own, all) || strings.HasPrefix(all, own)) {
		return f["shared"].bad("such as data: /data and shared: /shared", "shared: %s and data, %s, are not beside each other: one is the node's own, the other everybody's", s.Shared, s.Data)
	}
	return nil
}

// readLog reads which file a node writes its log to.
func (s *Spec) readLog(f map[string]value) (err error) {
	v, ok := f["log"]
	if !ok {
		return nil
	}
	if v.isMapping() || v.Kind == yaml.SequenceNode {
		return v.bad("log: /data/server.log; patterns of lines belong into observe: {logs: […]}, alarms or sometimes", "log: it is the path of one file")
	}
	w, err := s.example()
	if err != nil {
		return err
	}
	if s.Log, err = w.template(v); err != nil {
		return err
	}
	path, err := w.render(s.Log)
	if err != nil {
		return &fault{v.Line, v.Column, err}
	}
	if !strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") {
		return v.bad("a file of the container, by its whole path, such as /data/server.log", "log: %q is no such path", path)
	}
	if slices.Contains([]string{"/dev", "/proc", "/sys"}, "/"+strings.Split(path, "/")[1]) {
		return v.bad("leave it out: standard output and standard error are read in any case", "log: %q is no file that lines are appended to", path)
	}
	return nil
}

// folder reads the path of a folder in the container.
func (v value) folder(field string) (string, error) {
	path, err := v.text()
	switch {
	case err != nil:
	case !strings.HasPrefix(path, "/"):
		err = v.bad("a folder of the container, such as /data", "%s: %q does not begin with /", field, path)
	case strings.Contains(path, "{{"):
		err = v.bad("one folder for all nodes, such as /data, which the command may name", "%s: %q: it takes no template", field, path)
	}
	return path, err
}

// engines are the files that the engine mounts in each container, over what its image and its layer have there.
var engines = []string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"}

// capabilities are those of capabilities(7), and all of them.
var capabilities = strings.Fields(`ALL AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID
	IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID SETPCAP
	SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG WAKE_ALARM`)

// readCopied reads that a file is the copy of one of this machine.
func (s *Spec) readCopied(key, v value) error {
	f, err := v.fields("from")
	if err != nil {
		return err
	}
	from, ok := f["from"]
	if !ok {
		return v.bad("{from: ./server.py}, a path that begins at the file's folder", "files: from is missing")
	}
	path, err := from.text()
	if err != nil {
		return err
	}
	s.Copied[key.Value] = s.ofFolder(path)
	return nil
}

// ofFolder is a path of this machine, which begins at the file's folder.
func (s *Spec) ofFolder(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(s.File), path)
}

// copies reads the files that are copied.
func (s *Spec) copies() (map[string]string, error) {
	all := map[string]string{}
	for at, path := range s.Copied {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, hint.Add(fmt.Errorf("spec: files: %s: %w", at, err), "paths begin at the folder of %s", s.File)
		}
		all[at] = string(text)
	}
	return all, nil
}

// readProcesses reads what a node's processes are called.
func (s *Spec) readProcesses(_ value, f map[string]value) error {
	v, ok := f["processes"]
	if !ok {
		return nil
	}
	s.Processes = map[string]string{}
	return v.each(func(key, val value) error {
		if !nameRule.MatchString(key.Value) {
			return key.bad("use letters from a to z, digits, - and _", "%q cannot be the name of a process", key.Value)
		}
		p, err := val.fields("match")
		if err != nil {
			return err
		}
		m, ok := p["match"]
		if !ok {
			return val.bad("{match: PATTERN} of the command line, as ps shows it", "processes: %s: match is missing", key.Value)
		}
		re, err := m.pattern()
		if err != nil {
			return err
		}
		s.Processes[key.Value] = re.String()
		return nil
	})
}
