// Package strict reads the YAML files that people write: scenarios, suites, descriptions of targets. What is wrong with one
// is an Error with its line, its column and the way out, and a file that would take more than its size to read is refused.
package strict

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"recount/internal/hint"
)

// What a file may be at most. The largest scenario that a hunt writes has a hundredth of it.
const (
	MaxBytes = 1 << 20 // of text
	MaxNodes = 200_000 // keys and values, those that aliases stand for counted each time
	MaxDepth = 100     // of lists and mappings in each other
)

// Error is a mistake at a place in a file.
type Error struct {
	Line, Column int // from 1
	Err          error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d, column %d: %v", e.Line, e.Column, e.Err) }

// Unwrap returns what is wrong, which may have a hint.
func (e *Error) Unwrap() error { return e.Err }

// At is a mistake at a node.
func At(n *yaml.Node, err error) error { return &Error{n.Line, n.Column, err} }

// ErrEmpty says that a file holds nothing but, perhaps, comments.
var ErrEmpty = errors.New("the file says nothing")

// Parse reads a document and returns its root. One that says nothing is ErrEmpty.
func Parse(text []byte) (*yaml.Node, error) {
	if len(text) > MaxBytes {
		return nil, &Error{1, 1, hint.Add(fmt.Errorf("the file has %d bytes: no more than %d are read", len(text), MaxBytes),
			"is it the right file? What people write is much shorter")}
	}
	var doc, another yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&doc)
	for err == nil {
		if err = d.Decode(&another); err == nil && another.Content[0].Tag != "!!null" {
			return nil, At(&another, hint.Add(errors.New("another document begins here: a file has one"), "leave out the line --- or what comes after it"))
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		line, what := place(err.Error())
		line = min(line, 1+bytes.Count(bytes.TrimRight(text, "\n"), []byte("\n")))
		return nil, &Error{line, 1, hint.Add(fmt.Errorf("this is no YAML: %s", what), "%s", slip(what))}
	}
	if len(doc.Content) == 0 {
		return nil, ErrEmpty
	}
	root := doc.Content[0]
	m := measurer{sizes: map[*yaml.Node]int{}, open: map[*yaml.Node]bool{}}
	if _, err := m.size(root, 0); err != nil {
		return nil, err
	}
	return root, nil
}

// measurer counts what there is in a document, with all that aliases stand for.
type measurer struct {
	sizes map[*yaml.Node]int
	open  map[*yaml.Node]bool
}

func (m *measurer) size(n *yaml.Node, depth int) (size int, err error) {
	if n.Kind == yaml.AliasNode {
		if m.open[n.Alias] {
			return 0, At(n, hint.Add(fmt.Errorf("*%s stands for something that it is part of", n.Value), "write it out"))
		}
		size, err = m.size(n.Alias, depth)
		if err == nil && size > MaxNodes {
			err = tooMuch(n)
		}
		return size, err
	}
	if depth > MaxDepth {
		return 0, At(n, hint.Add(fmt.Errorf("more than %d lists and mappings in each other", MaxDepth), "no field takes that many"))
	}
	if size, known := m.sizes[n]; known {
		return size, nil
	}
	m.open[n] = true
	defer delete(m.open, n)
	size = 1
	for _, c := range n.Content {
		s, err := m.size(c, depth+1)
		if err != nil {
			return 0, err
		}
		if size += s; size > MaxNodes {
			return 0, tooMuch(c)
		}
	}
	m.sizes[n] = size
	return size, nil
}

func tooMuch(n *yaml.Node) error {
	return At(n, hint.Add(fmt.Errorf("the file comes to more than %d keys and values", MaxNodes),
		"aliases of aliases make it long: write out what is meant"))
}

// line is how the YAML library tells a place.
var line = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s+)?(?:line (\d+): )?((?s).*)$`)

// place splits an error of the YAML library into the line that it names, or 1, and what is wrong there.
func place(text string) (number int, what string) {
	m := line.FindStringSubmatch(text)
	if number, _ = strconv.Atoi(m[1]); number == 0 {
		number = 1
	}
	what, _, _ = strings.Cut(m[2], "\n")
	if m[1] != "" && strings.HasPrefix(what, expected) { // it comes from the library's parser, which counts lines from 0
		number++
	}
	return number, what
}

// expected begins what the YAML library says where it misses something.
const expected = "did not find expected "

// slip is what a person has most likely done where the YAML library says so.
func slip(what string) string {
	switch {
	case strings.HasPrefix(what, expected+"',' or"), what == expected+"node content":
		return "within braces and brackets one comma stands between two entries, as in {at: 1s, fault: kill}, and each is closed again: look there, and in the line above"
	case strings.HasPrefix(what, "mapping values are not allowed"):
		return "a text that has a colon and a blank in it goes in quotes; else look at the indentation there, and in the line above"
	}
	return "look at the quotes and the indentation there, and in the line above"
}

// Decode reads a document into a struct, whose yaml tags are the fields that there are, and returns its root. One that says nothing
// leaves the struct as it is, and has no root.
func Decode(text []byte, to any) (root *yaml.Node, err error) {
	root, err = Parse(text)
	if errors.Is(err, ErrEmpty) {
		return nil, nil
	}
	if err == nil {
		err = Fill(root, to)
	}
	if err != nil {
		return nil, err
	}
	return root, nil
}

// Fill reads what a node says, as Decode does: for readers of their own (yaml.Unmarshaler), which know what may stand there besides.
func Fill(n *yaml.Node, to any) error {
	if err := fits(n, reflect.TypeOf(to), ""); err != nil {
		return err
	}
	err := n.Decode(to)
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	number, what := place(err.Error())
	return &Error{number, column(n, number), hint.Add(errors.New(what), "leave one of them out")}
}

// Entries are those of a list that is a field of a document; none where it is no list, or the document, nil, says nothing.
func Entries(root *yaml.Node, field string) []*yaml.Node {
	for i := 0; root != nil && i+1 < len(root.Content); i += 2 {
		if list := root.Content[i+1]; root.Content[i].Value == field && list.Kind == yaml.SequenceNode {
			return list.Content
		}
	}
	return nil
}

// Keys are those of a mapping.
func Keys(n *yaml.Node) map[string]bool {
	all := map[string]bool{}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		all[n.Content[i].Value] = true
	}
	return all
}

// column is where the last value begins on a line: what is wrong there, more likely than its key.
func column(n *yaml.Node, number int) (at int) {
	if n.Line == number {
		at = n.Column
	}
	for _, c := range n.Content {
		at = max(at, column(c, number))
	}
	return max(at, 1)
}

// fits finds a field that a type does not have, an entry of a list that is none, or a value of another kind, in all that its own reader
// does not read. The value is the named field's.
func fits(n *yaml.Node, t reflect.Type, name string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	read := reflect.New(t).Interface()
	if _, own := read.(yaml.Unmarshaler); own || n.Tag == "!!null" {
		return nil
	}
	if text, own := read.(encoding.TextUnmarshaler); own && n.Kind == yaml.ScalarNode {
		if err := text.UnmarshalText([]byte(n.Value)); err != nil {
			return At(n, err)
		}
		return nil
	}
	switch {
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			if c.Tag == "!!null" { // the YAML library would leave it out, and count the others anew
				return At(c, hint.Add(errors.New("an entry that says nothing"), "leave it out, or write what it is to say"))
			}
			if err := fits(c, t.Elem(), name); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if err := fits(n.Content[i+1], t.Elem(), n.Content[i].Value); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		fields, names := fieldsOf(t)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			field, is := fields[key.Value]
			if !is {
				return At(key, hint.Unknown("field", key.Value, names))
			}
			if err := fits(n.Content[i+1], field, key.Value); err != nil {
				return err
			}
		}
	case n.Kind != yaml.ScalarNode || n.Decode(read) != nil:
		return At(n, another(n, t, name))
	}
	return nil
}

// another is the error of a value, of the named field, that is none of a type.
func another(n *yaml.Node, t reflect.Type, name string) error {
	says := fmt.Sprintf("%.40q", n.Value)
	switch n.Kind {
	case yaml.SequenceNode:
		says = "a list"
	case yaml.MappingNode:
		says = "a mapping"
	}
	if name != "" {
		says = name + " is " + says
	}
	want, way := wanted(t)
	return hint.Add(fmt.Errorf("%s: want %s", says, want), "%s", way)
}

// wanted says what a value of a type is read from, and how that is written.
func wanted(t reflect.Type) (what, way string) {
	if t == reflect.TypeFor[time.Duration]() {
		return "a duration", "a duration has its unit: 3s, 1.5s, 300ms, 2m"
	}
	const word = "write one word, or words in quotes"
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "text", word
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false", "without quotes"
	case reflect.Int, reflect.Int64:
		return "a whole number", "write it in digits: 3"
	case reflect.Uint64:
		return "a whole number from 0", "write it in digits: 3"
	case reflect.Float64:
		return "a number", "write it in digits: 0.5"
	case reflect.String:
		return "text", word
	case reflect.Slice:
		return "a list", "[a, b], or each entry in a line of its own: - a"
	}
	return "fields with values", "each in a line of its own, field: value"
}

// fieldsOf returns the types of a struct's fields by their names in a file, and these names.
func fieldsOf(t reflect.Type) (fields map[string]reflect.Type, names []string) {
	fields = map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		if name != "-" && f.IsExported() {
			fields[name] = f.Type
			names = append(names, name)
		}
	}
	return fields, names
}
