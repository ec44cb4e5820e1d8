package checkers

import "unsafe"

// sized is a watcher that keeps more of a long history than of a short one.
type sized interface{ size() int }

// Size is about how much memory the judging takes by now, in bytes.
func (j *Judging) Size() int64 {
	bytes := room(j.answers) + room(j.leads) + room(j.heights) + room(j.actions) + room(j.divisions) + room(j.world.epochs) + room(j.held)
	for _, w := range j.watchers {
		if s, ok := w.(sized); ok {
			bytes += s.size()
		}
	}
	return int64(bytes)
}

// room is how many bytes a slice takes.
func room[T any](all []T) int { return cap(all) * int(unsafe.Sizeof(*new(T))) }

func (f *accesses) size() int { return 2*room(f.uses) + f.tokened.size(0) } // and what is decided by them

func (u *uses) size() int { return 2 * room(u.all) }

func (p *progress) size() int {
	one := int(unsafe.Sizeof(attempt{}))
	bytes := len(p.under)*(one+16) + len(p.values)*int(unsafe.Sizeof(held{})+unsafe.Sizeof([]*attempt{})+16)
	for _, w := range p.writes {
		bytes += room(w.tries) + len(w.tries)*one + room(w.took)
	}
	return bytes
}

func (u *updates) size() int {
	return u.senders.size() + len(u.firsts)*int(unsafe.Sizeof(applied{})+unsafe.Sizeof(number{})+16)
}

func (v *votes) size() int { return v.terms.size(len(v.voters) * int(unsafe.Sizeof(vote{}))) }

func (e *elections) size() int { return e.first.size(0) + len(e.split)*32 }
