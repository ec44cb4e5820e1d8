package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"recount/harness/campaign/store"
	"recount/harness/record"
	"recount/internal/whole"
)

// A campaign whose store lies elsewhere has a copy of its folder there, below campaigns/<name>/: what is in the folder of the machine
// that makes it would go with that machine. recount serve opens it, and another machine goes on from its ledger.

// copied is the copy of a folder in a store.
type copied struct {
	store  *store.Store
	folder string
	at     string            // prefix of its keys
	there  map[string][]byte // files by their paths in the folder, as they were written; of kept runs, which do not change, none of the text
}

// openCopy takes what the folder does not have from the copy, all but kept runs: what earlier editions came to, the curves, and entries
// of the ledger, which others may have written since this machine did.
func openCopy(ctx context.Context, st *store.Store, folder, name string) (*copied, error) {
	c := &copied{store: st, folder: folder, at: "campaigns/" + name + "/", there: map[string][]byte{}}
	all, err := keys(ctx, st, c.at)
	if err != nil {
		return nil, err
	}
	for _, key := range all {
		file := strings.TrimPrefix(key, c.at)
		if strings.HasPrefix(file, "runs/") {
			c.there[file] = nil
			continue
		}
		if file == ledgerFile {
			if err := c.joinLedger(ctx); err != nil {
				return nil, err
			}
			continue
		}
		local := filepath.Join(folder, filepath.FromSlash(file))
		if _, err := os.Stat(local); !filepath.IsLocal(filepath.FromSlash(file)) || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		text, err := st.GetRaw(ctx, key)
		if err == nil {
			err = whole.Write(local, text)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// joinLedger adds the entries of the copy's ledger to those of the folder's, if others have written it since this process has read it.
func (c *copied) joinLedger(ctx context.Context) error {
	text, err := c.store.GetRaw(ctx, c.at+ledgerFile)
	if missing(err) || err == nil && bytes.Equal(text, c.there[ledgerFile]) {
		return nil
	}
	local := filepath.Join(c.folder, ledgerFile)
	own, other := &ledger{}, &ledger{}
	if err == nil {
		err = other.parse(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", c.store.URL, c.at+ledgerFile, err)
	}
	if err := own.read(local); err != nil {
		return err
	}
	own.join(other)
	c.there[ledgerFile] = text
	return putJSON(local, own)
}

// update copies what has changed. Of a run run.json goes last: a folder with it is a run's. A nil copy has nothing to do.
func (c *copied) update(ctx context.Context) error {
	if c == nil {
		return nil
	}
	var last []string
	err := filepath.WalkDir(c.folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(c.folder, name)
		file := filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !d.Type().IsRegular() || file == ClusterFile || strings.HasSuffix(file, ".part"):
			return nil
		case strings.HasPrefix(file, "runs/") && path.Base(file) == record.RunFile:
			last = append(last, file)
			return nil
		}
		return c.put(ctx, file)
	})
	for _, file := range last {
		if err == nil {
			err = c.put(ctx, file)
		}
	}
	return err
}

// put copies a file, unless it is there.
func (c *copied) put(ctx context.Context, file string) error {
	was, there := c.there[file]
	run := strings.HasPrefix(file, "runs/")
	if run && there {
		return nil
	}
	local := filepath.Join(c.folder, filepath.FromSlash(file))
	text, err := os.ReadFile(local)
	if err == nil && file == ledgerFile && !bytes.Equal(was, text) {
		if err = c.joinLedger(ctx); err == nil {
			text, err = os.ReadFile(local)
		}
	}
	if err != nil || there && bytes.Equal(was, text) {
		return err
	}
	if err := c.store.PutRaw(ctx, c.at+file, text); err != nil {
		return err
	}
	if c.there[file] = text; run {
		c.there[file] = nil
	}
	return nil
}
