// Package store keeps a campaign's results by keys, in a folder or in a bucket of S3, for any number of processes at once.
package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/s3blob" // s3://…
	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"

	"recount/internal/hint"
	"recount/internal/whole"
)

// Store is where a campaign's results lie. An object is whole or it is not there: what was cut short while it was written, or
// later by a disk, counts as not there, and so is made again. It is safe for several goroutines and processes at once.
type Store struct {
	URL    string // without what is secret in it
	bucket *blob.Bucket
}

// Open opens a store: a folder, by its path or as file:///path, which is made if need be, or a bucket as
// s3://bucket?endpoint=http://host:9000. Whom to be to S3 comes from where AWS's tools have it: AWS_ACCESS_KEY_ID and the like.
func Open(ctx context.Context, name string) (*Store, error) {
	path, is := Folder(name)
	if !is {
		bucket, err := Bucket(ctx, name)
		if err != nil {
			return nil, err
		}
		return &Store{URL: redacted(name), bucket: bucket}, nil
	}
	dir, err := filepath.Abs(path)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, hint.Add(fmt.Errorf("open the store: %w", err), "name a folder that can be written")
	}
	// A file is written beside its place, and renamed: a folder for temporary files may be on another disk.
	bucket, err := fileblob.OpenBucket(dir, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		return nil, hint.Add(fmt.Errorf("open %s: %w", name, err), "%s", ways)
	}
	return &Store{URL: (&url.URL{Scheme: "file", Path: dir}).String(), bucket: bucket}, nil
}

const ways = "a place is a folder, or s3://bucket?endpoint=http://host:9000, with &prefix=folder/ if it is a part of the bucket"

// Folder returns the folder that a place is, named by its path or as file:///path; false if it is none.
func Folder(name string) (path string, is bool) {
	if !strings.Contains(name, "://") {
		return name, true
	}
	u, err := url.Parse(name)
	if err != nil || u.Scheme != "file" || u.RawQuery != "" {
		return "", false
	}
	return u.Host + u.Path, true
}

// Bucket opens a bucket of S3, s3://bucket?endpoint=http://host:9000, as all of Recount does. Whether it is there shows when it is used.
func Bucket(ctx context.Context, name string) (*blob.Bucket, error) {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" || u.Scheme != "s3" {
		return nil, hint.Add(fmt.Errorf("%q is no bucket of S3", redacted(name)), "%s", ways)
	}
	q := u.Query()
	if q.Has("endpoint") && !q.Has("use_path_style") {
		q.Set("use_path_style", "true") // a server of one's own seldom has a name for each bucket
	}
	if q.Has("endpoint") && !q.Has("region") && os.Getenv("AWS_REGION") == "" {
		q.Set("region", "us-east-1")
	}
	u.RawQuery = q.Encode()
	bucket, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, hint.Add(fmt.Errorf("open %s: %w", u.Redacted(), err), "%s", ways)
	}
	return bucket, nil
}

// redacted is an address without the password in it.
func redacted(name string) string {
	if u, err := url.Parse(name); err == nil {
		return u.Redacted()
	}
	return name
}

// Close lets go of the store.
func (s *Store) Close() error { return s.bucket.Close() }

// Put keeps an object under a key, in the place of what may be there.
func (s *Store) Put(ctx context.Context, key string, text []byte) error {
	_, err := s.put(ctx, key, text, false)
	return err
}

// Create keeps an object if there is none under its key, and reports whether it has. In a folder two processes that create
// the same in the same moment may both believe that they did.
func (s *Store) Create(ctx context.Context, key string, text []byte) (bool, error) {
	return s.put(ctx, key, text, true)
}

func (s *Store) put(ctx context.Context, key string, text []byte, fresh bool) (bool, error) {
	// A stream of gzip ends with its length and a checksum.
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, err = z.Write(text)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = s.bucket.WriteAll(ctx, key, b.Bytes(), &blob.WriterOptions{IfNotExist: fresh, ContentType: "application/gzip"})
	}
	if fresh && gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return false, nil
	}
	return err == nil, s.fault(ctx, "write", key, err)
}

// mostUnpacked is how many bytes an object may have: the largest are programs that nodes run in virtual time. A stream of gzip unpacks to
// up to a thousand times its length, and others may write to a bucket.
const mostUnpacked = 512 << 20

// Get returns an object; what is not there, or not whole, is fs.ErrNotExist.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	packed, err := s.bucket.ReadAll(ctx, key)
	if err != nil {
		return nil, s.fault(ctx, "read", key, err)
	}
	text, err := unpack(packed, mostUnpacked)
	if errors.As(err, new(*whole.TooLong)) {
		return nil, hint.Add(fmt.Errorf("%s: %s: %w", s.URL, key, err), "no campaign keeps so much under one key: who else writes there?")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s is not whole: %w", s.URL, key, fs.ErrNotExist)
	}
	return text, nil
}

// unpack undoes what put has packed, most bytes at most.
func unpack(packed []byte, most int64) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return whole.ReadAll(z, most)
}

// PutRaw keeps an object as it is, for others than a Store to read.
func (s *Store) PutRaw(ctx context.Context, key string, text []byte) error {
	return s.fault(ctx, "write", key, s.bucket.WriteAll(ctx, key, text, nil))
}

// GetRaw returns what PutRaw has kept; what is not there is fs.ErrNotExist.
func (s *Store) GetRaw(ctx context.Context, key string) ([]byte, error) {
	text, err := s.bucket.ReadAll(ctx, key)
	return text, s.fault(ctx, "read", key, err)
}

// Delete removes an object; that it is not there is no error.
func (s *Store) Delete(ctx context.Context, key string) error {
	err := s.bucket.Delete(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return s.fault(ctx, "remove", key, err)
}

// List gives the keys that begin with a prefix, in their order.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for token := blob.FirstPageToken; len(token) > 0; {
			// A folder is walked for each page anew, and S3 gives pages of 1,000 whatever is asked for.
			page, next, err := s.page(ctx, token, prefix)
			if err != nil {
				yield("", s.fault(ctx, "list", prefix, err))
				return
			}
			for _, o := range page {
				if !strings.HasSuffix(o.Key, ".tmp") && !yield(o.Key, nil) { // what a process that was killed was writing
					return
				}
			}
			token = next
		}
	}
}

// page lists a part of the keys. Where a file goes while its folder is walked, as another process renames or removes it, the walk
// fails: it is made again, as often as a busy folder may want.
func (s *Store) page(ctx context.Context, token []byte, prefix string) (page []*blob.ListObject, next []byte, err error) {
	for range 1000 {
		page, next, err = s.bucket.ListPage(ctx, token, 1_000_000, &blob.ListOptions{Prefix: prefix})
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return page, next, err
}

// atOnce is how many objects are read or removed at once: S3 takes a while for each.
const atOnce = 16

// Each reads objects, and calls f with each that is there, in no order and from several goroutines at once: to make sense of what
// was read costs more than to read it.
func (s *Store) Each(ctx context.Context, keys []string, f func(key string, text []byte) error) error {
	return each(ctx, keys, func(ctx context.Context, key string) error {
		text, err := s.Get(ctx, key)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		return f(key, text)
	})
}

// DeleteAll removes objects; that some are not there is no error.
func (s *Store) DeleteAll(ctx context.Context, keys []string) error { return each(ctx, keys, s.Delete) }

// each does something with each of the keys, several at once, until one fails.
func each(ctx context.Context, keys []string, f func(ctx context.Context, key string) error) error {
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, key := range keys {
		if within.Err() != nil {
			break
		}
		g.Go(func() error { return f(within, key) })
	}
	err := g.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// fault says what could not be done with an object, and the way out.
func (s *Store) fault(ctx context.Context, doing, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	code := gcerrors.Code(err)
	text := plain(err)
	switch {
	case strings.Contains(text, "get credentials") || strings.Contains(text, "no EC2 IMDS role"):
		err = hint.Add(fmt.Errorf("%s: %s %s: there are no credentials", s.URL, doing, key), "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY say it, or AWS_PROFILE")
	case code == gcerrors.NotFound && doing == "read":
		return fmt.Errorf("%s: no %s: %w", s.URL, key, fs.ErrNotExist)
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || strings.Contains(text, "no space left"):
		err = hint.Add(fmt.Errorf("%s is full: %s %s", s.URL, doing, key), "make room, or name another --store; what was done is kept, and the same command goes on")
	case errors.Is(err, fs.ErrPermission) || code == gcerrors.PermissionDenied || strings.Contains(text, "StatusCode: 403"):
		err = hint.Add(fmt.Errorf("%s may not be used: %s %s: %s", s.URL, doing, key, text), "name a --store that may be written, or be somebody else: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY")
	case code == gcerrors.NotFound || strings.Contains(text, "NoSuchBucket"):
		err = hint.Add(fmt.Errorf("%s is not there: %s", s.URL, text), "make the bucket first")
	default:
		err = hint.Add(fmt.Errorf("%s: %s %s: %s", s.URL, doing, key, text), "is it up, and its address right? What was done is kept, and the same command goes on")
	}
	return err
}

// inside is what an error of S3 tells of how it was asked, which the rest says better.
var inside = regexp.MustCompile(`operation error S3: |\b(Put|Get|Head|Delete)Object, |\bListObjectsV2, |https response error |RequestID: [^,]*, |HostID: [^,]*, |` +
	`blob \((key "[^"]*"\) \()?code=\w+\): |exceeded maximum number of attempts, \d+, |StatusCode: 0, |request send failed, |\b[A-Z][a-z]+ "https?://[^"]*": `)

// plain is an error in one line, without what helps nobody.
func plain(err error) string {
	return inside.ReplaceAllString(strings.Join(strings.Fields(err.Error()), " "), "")
}
