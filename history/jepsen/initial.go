package jepsen

import (
	"errors"
	"fmt"
	"io"

	"recount/history/edn"
	"recount/internal/hint"
)

// What registers hold before anybody has written to them.

// ParseInitial reads a value as --initial has it, which is one form of EDN.
func ParseInitial(r io.Reader) (v any, err error) {
	forms := edn.NewReader(r)
	if v, err = forms.Next(); err != nil {
		return nil, err
	}
	if _, err = forms.Next(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	if _, ok := edn.Canonical(v); !ok {
		return nil, errors.New("##NaN is equal to nothing, not even to itself")
	}
	return v, nil
}

// InitialOf finds in a test of Jepsen's what its registers hold at first, nil where it does not tell: what its model
// begins with, as in :model #knossos.model.CASRegister{:value 0}, or :initial-value.
func InitialOf(test io.Reader) (any, error) {
	form, err := edn.NewReader(test).Next()
	if err != nil {
		return nil, err
	}
	return initialOf(form), nil
}

func initialOf(test any) any {
	m, _ := untagged(test).(edn.Map)
	for _, key := range []edn.Keyword{"initial-value", "initial"} {
		if v, ok := m.Get(key); ok {
			return v
		}
	}
	switch v, _ := m.Get(edn.Keyword("model")); model := untagged(v).(type) {
	case edn.Map:
		if v, ok := model.Get(edn.Keyword("value")); ok {
			return v
		}
		if t, ok := v.(edn.Tagged); ok && t.Tag == "knossos.model.MultiRegister" {
			return model
		}
	}
	return nil
}

// begin sets what registers hold at first.
func (b *builder) begin() (err error) {
	if b.Initial == nil {
		return nil
	}
	if !b.model.registers {
		return hint.Add(fmt.Errorf("initial value %s: the model %s has no registers", short(b.Initial), b.model.Name), "leave out --initial")
	}
	perKey, each := b.Initial.(edn.Map)
	if b.model.Name != "multi-register" || !each {
		b.setup.Initial, err = textOf(b.Initial)
		return err
	}
	b.setup.Initials = map[string]string{}
	for _, p := range perKey {
		key, err1 := textOf(p.Key)
		value, err2 := textOf(p.Value)
		if err = errors.Join(err1, err2); err != nil {
			return err
		}
		b.setup.Initials[key] = value
	}
	return nil
}
