package history

import (
	"maps"
	"slices"
	"strconv"
)

// Faults are written by hand, as encoding/json would write them: a run of a minute has hundreds, with all the links that they
// change. What is rare in them is left to it.

func (f *Fault) appendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), int64(f.ID), 10)
	b = appendText(append(b, `,"name":`...), f.Name)
	if len(f.Params) > 0 {
		b = append(b, `,"params":`...)
		next := byte('{')
		for _, k := range slices.Sorted(maps.Keys(f.Params)) {
			b = append(appendText(append(b, next), k), ':')
			b = appendText(b, f.Params[k])
			next = ','
		}
		b = append(b, '}')
	}
	if f.After != "" {
		b = appendText(append(b, `,"after":`...), f.After)
	}
	b = appendList(b, `,"asked":`, f.Asked, appendText)
	b = appendList(b, `,"nodes":`, f.Nodes, appendText)
	b = appendList(b, `,"links":`, f.Links, appendLink)
	b = appendList(b, `,"procs":`, f.Procs, appendProc)
	b = appendRare(b, `,"clocks":`, f.Clocks)
	b = appendRare(b, `,"disks":`, f.Disks)
	b = appendRare(b, `,"clients":`, f.Clients)
	if len(f.More) > 0 {
		b = appendAny(append(b, `,"more":`...), f.More)
	}
	if f.Spread != 0 {
		b = strconv.AppendInt(append(b, `,"spread":`...), int64(f.Spread), 10)
	}
	if f.Found {
		b = append(b, `,"found":true`...)
	}
	if f.Idle != "" {
		b = appendText(append(b, `,"idle":`...), f.Idle)
	}
	return append(b, '}')
}

func appendLink(b []byte, l Link) []byte {
	if !l.cutAtMost() {
		return appendAny(b, l)
	}
	b = appendText(append(b, `{"from":`...), l.From)
	b = appendText(append(b, `,"to":`...), l.To)
	if l.Port != 0 {
		b = strconv.AppendInt(append(b, `,"port":`...), int64(l.Port), 10)
	}
	if l.Cut {
		b = append(b, `,"cut":true`...)
	}
	return append(b, '}')
}

// cutAtMost reports whether a link is whole or cut, which most are that anything is said of, and nothing else.
func (s LinkState) cutAtMost() bool {
	s.Cut = false
	return s == LinkState{}
}

func appendProc(b []byte, p Proc) []byte {
	b = appendText(append(b, `{"node":`...), p.Node)
	b = appendText(append(b, `,"state":`...), string(p.State))
	return append(b, '}')
}

// appendList appends a list under a key, unless it is empty.
func appendList[T any](b []byte, key string, all []T, one func([]byte, T) []byte) []byte {
	if len(all) == 0 {
		return b
	}
	b = append(b, key...)
	next := byte('[')
	for i := range all {
		b = one(append(b, next), all[i])
		next = ','
	}
	return append(b, ']')
}

// appendRare is appendList of what encoding/json writes.
func appendRare[T any](b []byte, key string, all []T) []byte {
	if len(all) == 0 {
		return b
	}
	return appendAny(append(b, key...), all)
}

// appendText appends a string as encoding/json writes it within a value.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c == '<' || c == '>' || c == '&' {
			return appendAny(b, s)
		}
	}
	return appendString(b, s)
}
