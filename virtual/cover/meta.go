package cover

import (
	"encoding/binary"
	"errors"
)

// decode adds the blocks of one package by its meta data: a header, the offset of each function, a table of strings, the functions.
func (g *program) decode(meta []byte, pkg uint32, into map[where]Block) error {
	if len(meta) < headerSize {
		return errMeta
	}
	count := g.order.Uint32(meta[40:])
	if uint64(headerSize)+4*uint64(count) > uint64(len(meta)) {
		return errMeta
	}
	strings, err := (&varints{rest: meta[headerSize+4*count:]}).strings()
	if err != nil {
		return err
	}
	name := func(i uint64) (string, error) {
		if i >= uint64(len(strings)) {
			return "", errMeta
		}
		return strings[i], nil
	}
	for fn := range count {
		at := g.order.Uint32(meta[headerSize+4*fn:])
		if at > uint32(len(meta)) {
			return errMeta
		}
		v := &varints{rest: meta[at:]}
		units, called, file := v.next(), v.next(), v.next()
		if v.bad || units > uint64(len(meta)) {
			return errMeta
		}
		all := make([]Block, units)
		for k := range all {
			b := &all[k]
			for _, to := range []*uint32{&b.Line, &b.Column, &b.EndLine, &b.EndColumn, &b.Statements} {
				*to = uint32(v.next())
			}
			var errs [2]error
			b.Func, errs[0] = name(called)
			b.File, errs[1] = name(file)
			if err := errors.Join(errs[:]...); err != nil {
				return err
			}
		}
		literal := v.next() != 0
		if v.bad {
			return errMeta
		}
		for k, b := range all {
			if literal {
				b.Func = ""
			}
			into[where{pkg, fn, uint32(k)}] = b
		}
	}
	return nil
}

var errMeta = errors.New("what it tells of its statements is of another form than of the Go releases that are known")

// varints are numbers of which each byte tells whether more follow (LEB128).
type varints struct {
	rest []byte
	bad  bool
}

func (v *varints) next() uint64 {
	n, size := binary.Uvarint(v.rest)
	if size <= 0 {
		v.bad, v.rest = true, nil
		return 0
	}
	v.rest = v.rest[size:]
	return n
}

// strings reads a table of them: how many, and each with its length.
func (v *varints) strings() (all []string, err error) {
	for range v.next() {
		n := v.next()
		if v.bad || n > uint64(len(v.rest)) {
			return nil, errMeta
		}
		all, v.rest = append(all, string(v.rest[:n])), v.rest[n:]
	}
	return all, nil
}
