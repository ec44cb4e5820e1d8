//go:build unix

package disk

// What a machine that dies in the midst of a write leaves of it. A sector is written whole or not at all, and sectors in any order.

const sectorSize = 512

// extent is a stretch of a file.
type extent struct {
	i      *inode
	off, n int64
}

// sector is what one is to hold: fewer bytes at the end of a file.
type sector struct {
	off int64
	b   []byte
}

// sectors are those that a stretch of a file touches, with all that is in them now.
func (e extent) sectors() (all []sector) {
	for off := e.off / sectorSize * sectorSize; off < e.off+e.n; off += sectorSize {
		b := make([]byte, sectorSize)
		if n := e.i.data.read(b, off); n > 0 {
			all = append(all, sector{off, b[:n]})
		}
	}
	return all
}

// tear draws which sectors of the last write that was not synced are on disk: the first ones, or any. Of several one is at least, and one
// is not.
func (d *Disk) tear() (kept []sector) {
	if d.last.i == nil {
		return nil
	}
	all := d.last.sectors()
	switch n := len(all); n {
	case 0:
		return nil
	case 1:
		return all[:d.rand.IntN(2)]
	default:
		if d.rand.IntN(2) == 0 {
			d.rand.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
		return all[:1+d.rand.IntN(n-1)]
	}
}

// keep puts sectors on disk that a crash has left.
func (c *content) keep(all []sector) {
	for _, s := range all {
		c.write(s.b, s.off)
	}
	c.sync()
}
