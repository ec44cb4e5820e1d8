package bugs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"recount/internal/hint"
	"recount/internal/whole"
)

// The files that a track record is kept in: what was measured, and the page made of it.
const (
	JSONFile = "track-record.json"
	PageFile = "track-record.md"
)

// Record is all that was measured.
type Record struct {
	Rows  []Count `json:"rows"`
	Soaks []Soak  `json:"soaks"`
}

// Load reads the record in a folder; where there is none, nothing was measured yet.
func Load(dir string) (rec Record, err error) {
	b, err := os.ReadFile(filepath.Join(dir, JSONFile))
	if errors.Is(err, fs.ErrNotExist) {
		return rec, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &rec)
	}
	if err != nil {
		return rec, hint.Add(fmt.Errorf("read the record: %w", err), "--docs DIR names the folder with %s", JSONFile)
	}
	return rec, nil
}

// Put takes in what was measured of a row, in the place of what was known of the same sides, and of those that it no longer has.
func (rec *Record) Put(r Row, counts []Count) error {
	sides, err := r.sides()
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, s := range sides {
		key, err := r.key(s)
		if err != nil {
			return err
		}
		keep[key] = true
	}
	for _, c := range counts {
		keep[c.Key] = false
	}
	rec.Rows = slices.DeleteFunc(rec.Rows, func(c Count) bool { return c.Row == r.Name && !keep[c.Key] })
	rec.Rows = append(rec.Rows, counts...)
	slices.SortStableFunc(rec.Rows, func(a, b Count) int { return strings.Compare(a.Row, b.Row) })
	return nil
}

// PutSoak takes in a soak, in the place of what was known of it.
func (rec *Record) PutSoak(s Soak) {
	rec.Soaks = slices.DeleteFunc(rec.Soaks, func(o Soak) bool { return o.Name == s.Name })
	rec.Soaks = append(rec.Soaks, s)
	slices.SortFunc(rec.Soaks, func(a, b Soak) int { return strings.Compare(a.Name, b.Name) })
}

// Write writes the record and its page into a folder.
func (rec *Record) Write(dir string) error {
	page, err := rec.Page()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err = e.Encode(rec); err == nil {
		err = whole.WriteAll(dir, map[string][]byte{JSONFile: b.Bytes(), PageFile: []byte(page)})
	}
	if err != nil {
		return hint.Add(fmt.Errorf("write the record: %w", err), "--docs DIR names another folder")
	}
	return nil
}

// count returns what was measured of a side, if that is what the row runs today.
func (rec *Record) count(r Row, c side) (Count, bool, error) {
	same, err := r.same(c)
	if err != nil {
		return Count{}, false, err
	}
	i := slices.IndexFunc(rec.Rows, func(o Count) bool { return o.Row == r.Name && same(o) })
	if i < 0 {
		return Count{}, false, nil
	}
	return rec.Rows[i], true, nil
}

// same tells which counts are of the runs that the row makes of a side today, as far as that can be told here.
func (r Row) same(c side) (func(o Count) bool, error) {
	if r.Here() != nil {
		named, err := r.named(c)
		return func(o Count) bool { return o.Named == named }, err
	}
	key, err := r.key(c)
	return func(o Count) bool { return o.Key == key }, err
}
