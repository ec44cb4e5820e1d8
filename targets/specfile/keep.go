package specfile

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"recount/internal/hint"
)

// What nodes answer once, as they are made a cluster, and are told from then on: a token, the key that opens them.

// Keep is what of an answer is kept, by the names that templates have for it, {{kept "token"}}. At most one of its fields is set.
type Keep struct {
	Paths map[string]path // of an answer that is JSON
	Match *regexp.Regexp  // of text: its named groups
}

func (k *Keep) given() bool { return k.Paths != nil || k.Match != nil }

// names are those of what is kept, in their order.
func (k *Keep) names() []string {
	if k.Match != nil {
		return slices.DeleteFunc(slices.Sorted(slices.Values(k.Match.SubexpNames())), func(name string) bool { return name == "" })
	}
	return slices.Sorted(maps.Keys(k.Paths))
}

const keepWay = `keep: {token: FIELD}, of an answer in JSON; or keep: 'Token: (?P<token>\S+)', of text. Then {{kept "token"}} stands for it`

// readKeep reads what of the answer to a request is kept.
func readKeep(v value) (k Keep, err error) {
	if !v.isMapping() {
		if k.Match, err = v.pattern(); err == nil && len(k.names()) == 0 {
			err = v.bad(keepWay, "keep: the pattern has no group that is named")
		}
		return k, err
	}
	k.Paths = map[string]path{}
	return k, v.each(func(key, val value) error {
		text, err := val.text()
		if err != nil {
			return err
		}
		if k.Paths[key.Value], err = parsePath(text); err != nil {
			return val.bad(keepWay, "keep: %s: %v", key.Value, err)
		}
		return nil
	})
}

// of reads what is kept of an answer, which has to have all of it.
func (k *Keep) of(answer []byte) (map[string]string, error) {
	get, err := k.getter(answer)
	if err != nil {
		return nil, err
	}
	said := map[string]string{}
	for _, name := range k.names() {
		text, err := get(name)
		if err == nil && text == "" {
			err = errors.New("it is empty")
		}
		if err != nil {
			return nil, meaning(fmt.Errorf("keep: %s: %w; the answer is %#q", name, err, clip(answer)), "")
		}
		said[name] = text
	}
	return said, nil
}

func (k *Keep) getter(answer []byte) (func(name string) (string, error), error) {
	if k.Match == nil {
		root, err := ParseJSON(answer)
		return func(name string) (string, error) { return k.Paths[name].find(root) }, err
	}
	m := k.Match.FindStringSubmatch(string(answer))
	if m == nil {
		return nil, fmt.Errorf("keep: it matches nothing in the answer %#q", clip(answer))
	}
	return func(name string) (string, error) { return group(k.Match, m, name), nil }, nil
}

// kept is what bootstrap has told by now. It is safe for concurrent use.
type kept struct {
	mu   sync.Mutex
	said map[string]string // which is never changed, but replaced
}

func (k *kept) add(said map[string]string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := maps.Clone(k.said)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, said)
	k.said = all
}

func (k *kept) now() map[string]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.said
}

// kept is what bootstrap was answered, by its name.
func (w words) kept(name string) (string, error) {
	if text, is := w.said[name]; is {
		return text, nil
	}
	names := w.s.Bootstrap.keeps()
	if len(names) == 0 {
		return "", hint.Add(fmt.Errorf("nothing is kept as %q", name), "bootstrap: [{http: /init, keep: {%s: FIELD}}] keeps what that answers, for what nodes are asked afterwards; "+
			"command, environment and files are filled before it", name)
	}
	if !slices.Contains(names, name) {
		return "", hint.Unknown("word that is kept", name, names)
	}
	return "", fmt.Errorf("%q is not known before bootstrap was answered", name)
}
