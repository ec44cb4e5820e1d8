package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"time"
)

// Claim is a process's word that it does something, so that no other begins it too. It is a courtesy and no lock: a claim
// that was not renewed is anybody's, and what two processes do after all must come to the same.
type Claim struct {
	s    *Store
	key  string
	word word
	stop context.CancelFunc
	done chan struct{}
}

type word struct {
	Who   string    `json:"who"`
	Until time.Time `json:"until"`
}

// Lasts is how long a claim holds that is not renewed. The clocks of those who share a store may differ by less.
const Lasts = time.Minute

// Claim says that who, whose name is nobody else's, does what the key stands for, until the claim is released. It returns nil
// if another has said so and not yet gone silent.
func (s *Store) Claim(ctx context.Context, key, who string) (*Claim, error) {
	who = strings.ToValidUTF8(who, "?") // a machine may be called anything, and JSON would have other bytes
	w := word{who, time.Now().Add(Lasts)}
	made, err := s.Create(ctx, key, w.encode())
	if err != nil {
		return nil, err
	}
	if !made {
		held, err := s.word(ctx, key)
		if err != nil || held.holds(time.Now()) && held.Who != who {
			return nil, err
		}
		if err := s.Put(ctx, key, w.encode()); err != nil {
			return nil, err
		}
	}
	if held, err := s.word(ctx, key); err != nil || held.Who != who { // somebody has claimed it in the same moment, and was last
		return nil, err
	}
	keep, stop := context.WithCancel(ctx)
	c := &Claim{s, key, w, stop, make(chan struct{})}
	go c.renew(keep)
	return c, nil
}

// holds reports whether it has not lapsed. One that is to hold for longer than any may is of a machine whose clock is wrong, and which may be gone.
func (w word) holds(now time.Time) bool {
	left := w.Until.Sub(now)
	return left > 0 && left < 2*Lasts
}

// word is the claim on a key; of none it is one that has lapsed.
func (s *Store) word(ctx context.Context, key string) (w word, err error) {
	text, err := s.Get(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return word{}, nil
	}
	if err == nil && json.Unmarshal(text, &w) != nil {
		w = word{}
	}
	return w, err
}

func (w word) encode() []byte {
	b, err := json.Marshal(w)
	if err != nil {
		panic(err) // a name and a time
	}
	return b
}

func (c *Claim) renew(ctx context.Context) {
	defer close(c.done)
	t := time.NewTicker(Lasts / 3)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			c.word.Until = time.Now().Add(Lasts)
			_ = c.s.Put(ctx, c.key, c.word.encode()) // a claim that lapses costs double work, no more
		}
	}
}

// Release takes the claim back.
func (c *Claim) Release(ctx context.Context) error {
	c.stop()
	<-c.done
	return c.s.Delete(context.WithoutCancel(ctx), c.key)
}
