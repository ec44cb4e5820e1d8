//go:build unix

package disk

import "maps"

const pageSize = 4096

// page is a piece of a file. A page that is on disk is never changed: who writes to it makes another.
type page [pageSize]byte

// reserved is the page of room that was allocated and not written.
var reserved page

// content is what a regular file holds: what reads see, and what of it is on disk. Pages that are missing read as zeros
// and take no room.
type content struct {
	pages map[int64]*page
	size  int64

	saved     map[int64]*page
	savedSize int64
	dirty     map[int64]struct{} // pages that the next sync writes to disk, or drops there
}

func newContent() content {
	return content{pages: map[int64]*page{}, saved: map[int64]*page{}, dirty: map[int64]struct{}{}}
}

// read fills b from an offset on, and returns how much there is.
func (c *content) read(b []byte, off int64) int {
	if off >= c.size {
		return 0
	}
	b = b[:min(int64(len(b)), c.size-off)]
	for n := 0; n < len(b); {
		at := off + int64(n)
		rest := b[n:min(len(b), n+pageSize-int(at%pageSize))]
		if p := c.pages[at/pageSize]; p != nil {
			copy(rest, p[at%pageSize:])
		} else {
			clear(rest)
		}
		n += len(rest)
	}
	return len(b)
}

// room is how many pages it takes to write there that are not taken yet.
func (c *content) room(off, n int64) (pages int64) {
	for i := off / pageSize; n > 0 && i <= (off+n-1)/pageSize; i++ {
		if c.pages[i] == nil {
			pages++
		}
	}
	return pages
}

func (c *content) write(b []byte, off int64) {
	for n := 0; n < len(b); {
		at := off + int64(n)
		n += copy(c.own(at / pageSize)[at%pageSize:], b[n:])
	}
	c.size = max(c.size, off+int64(len(b)))
}

// own returns a page that may be changed, and is to be written to disk.
func (c *content) own(i int64) *page {
	p := c.pages[i]
	if p == nil || p == &reserved || p == c.saved[i] {
		fresh := new(page)
		if p != nil {
			*fresh = *p
		}
		p = fresh
		c.pages[i] = p
	}
	c.dirty[i] = struct{}{}
	return p
}

// reserve takes the room for what is to be written there.
func (c *content) reserve(off, n int64) {
	for i := off / pageSize; n > 0 && i <= (off+n-1)/pageSize; i++ {
		if c.pages[i] == nil {
			c.pages[i] = &reserved
			c.dirty[i] = struct{}{}
		}
	}
}

// zero makes a stretch of the file read as zeros, and gives back whole pages.
func (c *content) zero(off, n int64) {
	for end := min(off+n, (c.size+pageSize-1)/pageSize*pageSize); off < end; {
		i, in := off/pageSize, off%pageSize
		rest := min(end-off, pageSize-in)
		switch {
		case c.pages[i] == nil:
		case rest == pageSize:
			delete(c.pages, i)
			c.dirty[i] = struct{}{}
		default:
			clear(c.own(i)[in : in+rest])
		}
		off += rest
	}
}

// truncate makes the file that long.
func (c *content) truncate(size int64) {
	if size < c.size {
		c.zero(size, min(c.size-size, pageSize-size%pageSize)) // of pages beyond there may be none, for exabytes
		for i := range c.pages {                               // room that was taken beyond the end
			if i*pageSize >= size {
				delete(c.pages, i)
				c.dirty[i] = struct{}{}
			}
		}
	}
	c.size = size
}

// sync puts on disk what is dirty, and how long the file is.
func (c *content) sync() {
	for i := range c.dirty {
		if p := c.pages[i]; p != nil {
			c.saved[i] = p
		} else {
			delete(c.saved, i)
		}
	}
	clear(c.dirty)
	c.savedSize = c.size
}

// giveUp is a sync that fails: as on Linux, the pages count as clean from then on, and no later sync writes them.
func (c *content) giveUp() { clear(c.dirty) }

// lose leaves what is on disk.
func (c *content) lose() {
	c.pages, c.size = maps.Clone(c.saved), c.savedSize
	clear(c.dirty)
	size := c.size
	c.size = max(size, size/pageSize*pageSize+pageSize)
	c.truncate(size) // a failed sync may have left more than that there
}
