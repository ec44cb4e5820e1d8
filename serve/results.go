package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"gocloud.dev/blob"

	"recount/harness/campaign/store"
	"recount/internal/hint"
)

// openResults opens where results lie: a folder, by its path or as file:///path, or a bucket as
// s3://bucket?prefix=results/&endpoint=http://host:9000. Whom to be to S3 comes from where AWS's tools have it.
func openResults(name string) (fsys fs.FS, done func() error, err error) {
	if folder, is := store.Folder(name); is {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return nil, nil, hint.Add(fmt.Errorf("results folder: %w", err), "a run makes one; --results DIR names another place")
		}
		return readable{root.FS()}, root.Close, nil
	}
	bucket, err := store.Bucket(context.Background(), name)
	if err != nil {
		return nil, nil, fmt.Errorf("results: %w", err)
	}
	if there, err := bucket.IsAccessible(context.Background()); err != nil || !there {
		if err == nil {
			err = fs.ErrNotExist
		}
		bucket.Close()
		return nil, nil, hint.Add(fmt.Errorf("results: open the bucket: %s", strings.Join(strings.Fields(err.Error()), " ")), "is the server up, the bucket there, and AWS_ACCESS_KEY_ID somebody who may read it?")
	}
	return files{bucket}, bucket.Close, nil
}

// readable is a folder of which only files and folders are opened: who opens a named pipe waits for somebody to write to it, which may
// be never.
type readable struct{ in fs.FS }

var errNoFile = errors.New("it is neither a file nor a folder")

func (r readable) Open(name string) (fs.File, error) {
	info, err := r.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNoFile}
	}
	return r.in.Open(name)
}

func (r readable) Stat(name string) (fs.FileInfo, error) { return fs.Stat(r.in, name) }

// files are those of a bucket. The bucket's own Sub is left out: it closes the bucket.
type files struct{ bucket *blob.Bucket }

func (f files) Open(name string) (fs.File, error) { return f.bucket.Open(name) }

// Stat asks for a file's attributes, where opening it would begin to fetch it.
func (f files) Stat(name string) (fs.FileInfo, error) {
	a, err := f.bucket.Attributes(context.Background(), name)
	if err == nil {
		return object{path.Base(name), a}, nil
	}
	opened, err := f.Open(name) // it may be a folder
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return opened.Stat()
}

// object is what is known of a file of a bucket.
type object struct {
	name string
	*blob.Attributes
}

func (o object) Name() string       { return o.name }
func (o object) Size() int64        { return o.Attributes.Size }
func (o object) Mode() fs.FileMode  { return fs.ModeIrregular }
func (o object) ModTime() time.Time { return o.Attributes.ModTime }
func (o object) IsDir() bool        { return false }
func (o object) Sys() any           { return nil }
