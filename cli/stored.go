package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"recount/checkers"
	"recount/harness/record"
	"recount/history"
	"recount/history/jepsen"
	"recount/internal/hint"
	"recount/internal/whole"
)

// Histories as they are stored: which file of a folder is one, how it is compressed, and what lies beside it.

// loaded is a history that was read, and what is known of it.
type loaded struct {
	run     *record.Run
	model   jepsen.Model      // of somebody else's
	judging *checkers.Judging // of one that was judged as it was read, and not kept; else nil
}

// load reads a history in any format, and the run that it belongs to if its folder holds one.
func (c *checking) load(of *reading, path string, memory int64) (*loaded, error) {
	file, err := historyOf(path)
	if err != nil {
		return nil, err
	}
	f, err := of.open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &loaded{run: &record.Run{Title: path, File: path}}
	own, err := c.read(s, f, memory)
	if err != nil {
		return nil, inFile(file, err)
	}
	if !own {
		return s, c.demanded(s, file)
	}
	if c.Model != "" || c.Independent || c.Initial != nil {
		return nil, hint.Add(fmt.Errorf("%s is a history of Recount's", file),
			"leave out --model, --independent and --initial: they are for other people's")
	}
	if s.judging == nil {
		if err := c.setUp(s, s.run.Setup()); err != nil {
			return nil, err
		}
	}
	if s.model.Name != "" {
		return s, c.demanded(s, file) // it was somebody else's once
	}
	r := s.run
	if setup := r.Setup(); setup != nil {
		r.Target, r.Cluster, r.Options, r.Seed, r.Nodes = setup.Target, setup.Cluster, setup.Options, setup.Seed, setup.Nodes
	}
	r.From, r.Plan.Require = filepath.Dir(file), c.demand
	outline, err := record.Outline(r.From)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, err
	}
	r.Repeat, r.Plan, r.PlanHash = outline.Repeat, outline.Plan, outline.PlanHash
	r.Plan.Require = slices.Concat(r.Plan.Require, c.demand)
	return s, nil
}

// demanded takes up what is demanded of somebody else's history, or says what does not go with one.
func (c *checking) demanded(s *loaded, file string) error {
	s.run.Plan.Require = c.demand
	if len(c.bounds) > 0 {
		return hint.Add(fmt.Errorf("%s is no run of Recount's: --bound goes with what is judged by a threshold, and nothing of it is", file), "leave out --bound")
	}
	for _, property := range c.demand {
		if !slices.Contains(s.model.Properties, property) {
			return hint.Add(fmt.Errorf("--require %s: %s is a history of operations on a %s, and says nothing of that", property, file, s.model.Name),
				"what can be required of it is %s; --model says what else its operations may be on", strings.Join(s.model.Properties, ", "))
		}
	}
	return nil
}

// historyOf returns the history in a run's folder, or the file itself.
func historyOf(path string) (string, error) {
	info, err := os.Stat(path)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", path, failed.Err)
		if errors.Is(err, fs.ErrNotExist) {
			err = hint.Add(err, "name a history, or a run's folder; the newest one that recount run has made is results/latest")
		}
		return "", err
	}
	if err != nil || !info.IsDir() {
		return path, err
	}
	for _, name := range []string{record.HistoryFile, record.HistoryFile + record.Compressed, "history.edn", "history.edn.gz"} {
		if file := filepath.Join(path, name); exists(file) {
			return file, nil
		}
	}
	none := fmt.Errorf("%s holds no history", path)
	if latest := filepath.Join(path, "latest"); exists(latest) {
		return "", hint.Add(none, "it holds those of several runs; the newest one is %s", latest)
	}
	for _, name := range []string{"test.jepsen", "test.fressian"} {
		if file := filepath.Join(path, name); exists(file) {
			return "", hint.Add(fmt.Errorf("%w, but a %s", none, name), binaryHint)
		}
	}
	if file := filepath.Join(path, "history.txt"); exists(file) {
		return file, nil
	}
	if runs, _ := fs.Glob(os.DirFS(path), "*/history.*"); len(runs) > 0 {
		return "", hint.Add(none, "it holds those of several runs; one of them is %s", filepath.Join(path, filepath.Dir(runs[len(runs)-1])))
	}
	return "", hint.Add(none, "a run's folder has a history.jsonl or a history.edn; the newest one that recount run has made is results/latest")
}

// binaryHint is the way out for who has but a test in Jepsen's own format.
const binaryHint = "Jepsen writes a history.edn beside it when a test is analyzed: run its analyze command once more, " +
	`or (spit "history.edn" (pr-str (:history (jepsen.store/test "latest")))) in its REPL`

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// inFile names the file in which something is wrong.
func inFile(file string, err error) error {
	named := fmt.Errorf("%s: %w", file, err)
	switch {
	case errors.Is(err, history.ErrCut):
		return hint.Add(named, "the run ended while it wrote this, killed or without room on the disk; --cut judges what comes before")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return hint.Add(named, "--cut judges what comes before; if nothing is missing, end the file as it should end")
	}
	return named
}

const sniffed = 64 << 10

// errBinary is the error of a file that Jepsen has stored a whole test in.
var errBinary = hint.Add(errors.New("a test in Jepsen's own format, which is not read here"), binaryHint)

// read reads a history, and reports whether it is one of Recount's.
func (c *checking) read(s *loaded, f *source, memory int64) (own bool, err error) {
	r, begin, err := plain(f)
	if err != nil {
		return false, err
	}
	format := jepsen.Sniff(begin)
	switch {
	case bytes.HasPrefix(begin, []byte("JEPSEN")) || format == jepsen.Unknown && filepath.Ext(strings.TrimSuffix(f.Name(), ".gz")) == ".fressian":
		return false, errBinary
	case format == jepsen.JSONL:
		if c.edn == "" && !c.whole {
			if err = c.stream(s, r, again(f), memory); !errors.Is(err, history.ErrDisorder) {
				return true, err
			}
			if _, failed := f.Seek(0, io.SeekStart); failed != nil {
				return true, hint.Add(err, "give it as a file: then it is put in order")
			}
			s.judging, s.run.Unkept, r = nil, nil, f
		}
		s.run.History, err = history.ParseWithin(r, memory)
		if errors.Is(err, history.ErrCut) && c.Cut {
			s.run.History, err = history.New(s.run.History.Ops)
		}
		return true, err
	}
	o := c.Options
	o.Memory = memory
	if o.Initial == nil {
		if o.Initial, err = initially(filepath.Dir(f.Name())); err != nil {
			return false, err
		}
	}
	s.run.History, s.model, err = jepsen.Read(r, format, o)
	return err == nil && s.model.Name == "", err
}

// setUp takes up what a history says of the cluster, before it is judged: by which bounds, or that it was somebody else's once.
func (c *checking) setUp(s *loaded, setup *history.Setup) (err error) {
	if setup == nil {
		return nil
	}
	if setup.Model != "" {
		s.model, err = jepsen.FindModel(setup.Model)
		return err
	}
	setup.Bounds, err = c.bounded(setup.Bounds)
	return err
}

// plain reads a file, decompressed if need be, and shows how it begins.
func plain(f *source) (r io.Reader, begin []byte, err error) {
	packed := sized{bufio.NewReaderSize(f, sniffed), f}
	begin, err = peek(packed.Reader)
	if err != nil || !bytes.HasPrefix(begin, []byte("\x1f\x8b")) {
		return packed, begin, err
	}
	unpacked := bufio.NewReaderSize(&unzipped{packed: packed}, sniffed)
	begin, err = peek(unpacked)
	return unpacked, begin, err
}

// again returns what reads the ops of a file once more, nil if it is none that can be read twice.
func again(f *source) func(each func(op *history.Op)) error {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return func(each func(op *history.Op)) error {
		f, err := f.of.open(f.Name())
		if err != nil {
			return err
		}
		defer f.Close()
		r, _, err := plain(f)
		if err != nil {
			return err
		}
		err = history.Stream(r, func(op *history.Op) error {
			each(op)
			return nil
		})
		if errors.Is(err, history.ErrCut) { // as it was the first time
			err = nil
		}
		return err
	}
}

// stream reads a history op by op and has it judged as it is read. Only what the verdicts need is kept of it.
func (c *checking) stream(s *loaded, r io.Reader, again func(each func(op *history.Op)) error, memory int64) error {
	frame := &history.Frame{}
	s.run.Unkept = frame
	begin := func(setup *history.Setup) error {
		if err := c.setUp(s, setup); err != nil {
			return err
		}
		s.judging = checkers.Begin()
		if s.model.Name != "" {
			s.judging = checkers.BeginSome(s.model.Properties)
		}
		if again != nil {
			s.judging.Reread(again)
		}
		return nil
	}
	err := history.Stream(r, func(op *history.Op) error {
		if s.judging == nil {
			if err := begin(op.Setup); err != nil {
				return err
			}
		}
		frame.Add(op)
		s.judging.Add(op)
		if frame.Count%(1<<16) == 0 && s.judging.Size() > memory {
			return hint.Add(fmt.Errorf("the first %d ops are all that fits into %d MiB of memory", frame.Count, memory>>20),
				"--memory-limit SIZE allows more%s", map[bool]string{true: "; and a file, which can be read twice, takes less"}[again == nil])
		}
		return nil
	})
	if errors.Is(err, history.ErrCut) && c.Cut {
		err = nil
	}
	if err == nil && s.judging == nil {
		err = begin(nil)
	}
	return err
}

func peek(r *bufio.Reader) (begin []byte, err error) {
	if begin, err = r.Peek(sniffed); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return begin, err
}

// initially is what registers held before a test of Jepsen's, if there is a test.edn that tells.
func initially(dir string) (any, error) {
	f, err := os.Open(filepath.Join(dir, "test.edn"))
	if err != nil {
		return nil, nil // as in most places
	}
	defer f.Close()
	v, err := jepsen.InitialOf(f)
	if err != nil {
		err = hint.Add(fmt.Errorf("%s: %w", f.Name(), err), "--initial VALUE says what registers held at first; then this file is not read")
	}
	return v, err
}

// unzipped decompresses what gzip has compressed. Where that was cut off the error is io.ErrUnexpectedEOF.
type unzipped struct {
	packed io.Reader
	z      *gzip.Reader
}

func (u *unzipped) Read(b []byte) (n int, err error) {
	if u.z == nil {
		u.z, err = gzip.NewReader(u.packed)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
	}
	if err == nil {
		n, err = u.z.Read(b)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("decompress: %w", err)
	}
	return n, err
}

// sized is a reader of a file whose length is known.
type sized struct {
	*bufio.Reader
	f *source
}

func (s sized) Stat() (fs.FileInfo, error) { return s.f.Stat() }

// export writes a history for Jepsen's tools.
func export(path string, h *history.History) error {
	return whole.WriteBy(path, func(w io.Writer) error { return jepsen.Write(w, h) })
}

// draw writes the pictures of what was decided of a history.
func draw(dir string, r *record.Run) error {
	files := map[string][]byte{}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; len(v.Drawing) > 0 {
			files[v.Property+".html"] = v.Drawing
		}
	}
	return whole.WriteAll(dir, files)
}
