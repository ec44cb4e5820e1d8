package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"recount/history"
	"recount/internal/hint"
	"recount/internal/whole"
)

// The files of a run's folder, besides its reports.
const (
	RunFile      = "run.json"
	HistoryFile  = "history.jsonl"
	Compressed   = ".gz" // follows it where the history is compressed
	VerdictsFile = "verdicts.json"
	Drawings     = "porcupine" // folder of what porcupine drew, a page a property
	NodeLogs     = "nodes"     // folder of what the nodes printed
	ReproFile    = "repro"     // the command that repeats it
	// CoverageFile has which statements of the nodes' programs have run, as go tool cover reads it.
	CoverageFile = "coverage.out"
	// DefinitionFile is a copy of the file that describes a run's target: wherever that is judged again, it is known what was promised.
	DefinitionFile = "target.yaml"
)

// ScenarioFile is the file of the scenario that breaks a property as the run in whose folder it lies did.
func ScenarioFile(property string) string { return property + ".yaml" }

// MostJSON is how many bytes a file of JSON may have to be read, besides histories, which are read op by op. It is far more
// than Recount writes: results may be somebody else's.
const MostJSON = 64 << 20

// Save writes what is known of a run that begins, so that a run that gets killed can be told apart and repeated.
func Save(r *Run) error {
	if r.PlanHash == "" && r.Plan.Known() {
		r.PlanHash = r.Plan.Hash()
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the run: %w", err)
	}
	return whole.WriteAll(r.Dir, map[string][]byte{RunFile: append(b, '\n'), ReproFile: []byte(r.Repeat + "\n")})
}

// Write writes a judged run into its folder. The history is there already.
func Write(r *Run) error {
	verdicts, err := json.MarshalIndent(r.Verdicts, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the verdicts: %w", err)
	}
	if err := Save(r); err != nil {
		return err
	}
	files := map[string][]byte{VerdictsFile: append(verdicts, '\n')}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; len(v.Drawing) > 0 {
			files[filepath.Join(Drawings, v.Property+".html")] = v.Drawing
		}
	}
	return whole.WriteAll(r.Dir, files)
}

// WriteHistory writes a history into a run's folder, as the recorder of a run does.
func WriteHistory(dir string, h *history.History) error {
	var b []byte
	for i := range h.Ops {
		b = append(h.Ops[i].AppendJSON(b), '\n')
	}
	return whole.WriteAll(dir, map[string][]byte{HistoryFile: b})
}

// Read reads a run back from its folder. A history that was cut off is read as far as it goes, and a note says so; a run
// that was never judged has no verdicts, and stands as unknown.
func Read(dir string) (*Run, error) {
	r := &Run{Dir: dir}
	if err := r.read(os.DirFS(dir), math.MaxInt64); err != nil {
		return nil, err
	}
	return r, nil
}

// ReadFS is Read where the folder is not one of the file system's own, or not to be left through links. A history that would need more
// memory, in bytes, is refused.
func ReadFS(folder fs.FS, memory int64) (*Run, error) {
	r := &Run{}
	if err := r.read(folder, memory); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Run) read(folder fs.FS, memory int64) error {
	if err := r.outline(folder); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = hint.Add(err, "a run's folder has a %s; the newest one that recount run has made is results/latest", RunFile)
		}
		return err
	}
	name := HistoryFile
	f, err := folder.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		if packed, failed := folder.Open(name + Compressed); !errors.Is(failed, fs.ErrNotExist) {
			name, f, err = name+Compressed, packed, failed
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return hint.Add(r.fault(err), "a run's folder has a %s beside its %s", HistoryFile, RunFile)
	}
	if err != nil {
		return r.fault(err)
	}
	defer f.Close()
	h, err := history.ParseWithin(f, memory)
	if errors.Is(err, history.ErrCut) {
		if note := fmt.Sprintf("the history was cut off after %d ops", len(h.Ops)); !slices.Contains(r.Notes, note) {
			r.Notes = append(r.Notes, note)
		}
		h, err = history.New(h.Ops)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(r.Dir, name), err)
	}
	r.History = h
	if err := r.get(folder, VerdictsFile, &r.Verdicts); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.Stand()
	return nil
}

// Outline reads what Save wrote: a run without its history and its verdicts.
func Outline(dir string) (*Run, error) {
	r := &Run{Dir: dir}
	return r, r.outline(os.DirFS(dir))
}

// OutlineFS reads a run without its history: what Save wrote, and the verdicts if it was judged.
func OutlineFS(folder fs.FS) (*Run, error) {
	r := &Run{}
	if err := r.outline(folder); err != nil {
		return nil, err
	}
	if err := r.get(folder, VerdictsFile, &r.Verdicts); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return r, nil
}

// outline reads the run's file, which names a target at least.
func (r *Run) outline(folder fs.FS) error {
	if err := r.get(folder, RunFile, r); err != nil {
		return err
	}
	if r.Target == "" && !r.Plan.Known() {
		return r.odd(RunFile, errors.New("it tells of no run"))
	}
	return nil
}

func (r *Run) get(folder fs.FS, name string, v any) error {
	b, err := whole.Read(folder, name, MostJSON)
	if err != nil {
		return r.fault(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return r.odd(name, history.Plain(err))
	}
	return nil
}

// odd is the error of a file that is none of a run's.
func (r *Run) odd(name string, err error) error {
	return hint.Add(fmt.Errorf("read %s: %w", filepath.Join(r.Dir, name), err),
		"it is not what Recount wrote: recount check judges a %s by itself, copied to another folder", HistoryFile)
}

// fault names the file that could not be read by its whole path.
func (r *Run) fault(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		failed.Path = filepath.Join(r.Dir, failed.Path)
	}
	return err
}
