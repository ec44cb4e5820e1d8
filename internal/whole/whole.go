// Package whole writes files that are there whole or not at all, and reads files that somebody else may have written.
package whole

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
)

// written numbers the files that this process has begun: several goroutines may write one.
var written atomic.Uint64

// Write writes a file beside its place and renames it: who reads it meets what was there before or all of text, and so does who looks
// after the process was killed. It is not synced: a machine that loses its power may lose it. The folder is made if need be.
func Write(file string, text []byte) error {
	return WriteBy(file, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// WriteBy is Write of a text that write makes, which need not fit into memory.
func WriteBy(file string, write func(w io.Writer) error) error {
	part := fmt.Sprintf("%s.%d-%d.part", file, os.Getpid(), written.Add(1))
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = writeNew(part, write)
	}
	if err == nil {
		err = cause(os.Rename(part, file))
	}
	if err != nil {
		os.Remove(part)
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

func writeNew(file string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return cause(err)
	}
	return errors.Join(write(unnamed{f}), cause(f.Close()))
}

// unnamed is a file whose errors do not tell its name, which is none that anybody has given it.
type unnamed struct{ f *os.File }

func (u unnamed) Write(b []byte) (int, error) {
	n, err := u.f.Write(b)
	return n, cause(err)
}

// cause is why something could not be done to a file, without its name.
func cause(err error) error {
	if path, is := errors.AsType[*fs.PathError](err); is {
		return path.Err
	}
	if link, is := errors.AsType[*os.LinkError](err); is {
		return link.Err
	}
	return err
}

// WriteForms writes a thing into a folder in several forms, each into the file that it is under in forms. It writes none if one of them
// cannot be made.
func WriteForms[T any](dir string, forms map[string]func(io.Writer, T) error, thing T) error {
	texts := map[string][]byte{}
	for name, form := range forms {
		var b bytes.Buffer
		if err := form(&b, thing); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		texts[name] = b.Bytes()
	}
	return WriteAll(dir, texts)
}

// JSON writes a thing as one object, on a line, with <, > and & as they are.
func JSON[T any](w io.Writer, thing T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(thing)
}

// WriteAll writes files into a folder, by their paths in it and in their order.
func WriteAll(dir string, texts map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := Write(filepath.Join(dir, name), texts[name]); err != nil {
			return err
		}
	}
	return nil
}

// TooLong is the error of what has more bytes than were to be read.
type TooLong struct{ Most int64 }

func (e *TooLong) Error() string { return fmt.Sprintf("it is longer than %d MiB", e.Most>>20) }

// Read reads a file of most bytes at most; one that is longer is refused with a fs.PathError of TooLong.
func Read(fsys fs.FS, name string, most int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := ReadAll(f, most)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return text, nil
}

// ReadAll reads all of r, most bytes at most; what is longer is refused with TooLong.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, &TooLong{most}
	}
	return text, err
}
