package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
)

// misspelled returns the first key of JSON that is a field only for encoding/json, to which "Term" is "term", too; "" if there is none.
func misspelled(b []byte, v any) string {
	if !bytes.ContainsFunc(b, func(r rune) bool { return 'A' <= r && r <= 'Z' || r >= 0x80 }) {
		return ""
	}
	return misspelledIn(json.NewDecoder(bytes.NewReader(b)), reflect.TypeOf(v))
}

// misspelledIn does it for the next value, which is read into such a type. It is nil where keys are anything.
func misspelledIn(d *json.Decoder, t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		t = nil // it reads itself
	}
	in := func(key string) (reflect.Type, bool) {
		switch {
		case t == nil:
			return nil, true
		case t.Kind() == reflect.Struct:
			return fieldOf(t, key)
		case t.Kind() == reflect.Map || t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
			return t.Elem(), true
		}
		return nil, true
	}
	open, err := d.Token()
	if err != nil || open != json.Delim('{') && open != json.Delim('[') {
		return ""
	}
	for d.More() {
		key := ""
		if open == json.Delim('{') {
			token, err := d.Token()
			if err != nil {
				return ""
			}
			key, _ = token.(string)
		}
		of, known := in(key)
		if !known {
			return key
		}
		if bad := misspelledIn(d, of); bad != "" {
			return bad
		}
	}
	_, _ = d.Token() // its end
	return ""
}

// fieldOf returns the type of a struct's field that is called so in JSON: as its tag says, or else as it is here, in small letters.
func fieldOf(t reflect.Type, key string) (of reflect.Type, known bool) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct {
			if of, known = fieldOf(f.Type, key); known {
				return of, true
			}
		} else if cmp.Or(name, strings.ToLower(f.Name)) == key {
			return f.Type, true
		}
	}
	return nil, false
}
