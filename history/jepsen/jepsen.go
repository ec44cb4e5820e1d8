package jepsen

import (
	"errors"
	"fmt"
	"io"
	"time"

	"recount/history"
	"recount/history/edn"
	"recount/internal/hint"
	"recount/internal/term"
)

// event is one op as others write it down.
type event struct {
	line, column int
	index        int64         // -1 where none is given
	time         time.Duration // -1 where none is given
	process      history.Process
	kind         history.Type
	f            edn.Keyword
	key          any    // of one of several objects; nil where there is one
	object       string // the key as the history has it
	value        any
	node         string
	problem      string
	lone         bool // told in a log: a read of nil found nothing
}

// readEDN reads a vector or list of maps, or maps one after the other.
func (b *builder) readEDN(r *edn.Reader) error {
	c, err := r.Peek()
	if errors.Is(err, io.EOF) {
		return nil
	}
	closer := byte(0)
	line, column := r.At()
	b.lines = c != '[' && c != '('
	if c == '[' || c == '(' {
		closer = map[byte]byte{'[': ']', '(': ')'}[c]
		r.Skip()
	}
	for n := 0; ; n++ {
		c, err := r.Peek()
		switch at, col := r.At(); {
		case errors.Is(err, io.EOF) && closer != 0:
			err := &edn.SyntaxError{Line: at, Column: col, Ended: true}
			err.Problem = fmt.Sprintf("the text ends: want %q, for the history that opened in line %d, column %d: it is not whole", closer, line, column)
			return err
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case c == closer:
			r.Skip()
			if _, err := r.Peek(); err == nil {
				at, col := r.At()
				return problem(at, col, "text after the end of the history")
			} else if !errors.Is(err, io.EOF) {
				return err
			}
			return nil
		}
		at, col := r.At()
		v, err := r.Next()
		if err != nil {
			return err
		}
		m, ok := untagged(v).(edn.Map)
		if !ok {
			return problem(at, col, "%s is no op: want a map like {:type :invoke, :f :read, :value nil, :process 0, :time 1}", short(v))
		}
		if n == 0 && isOwn(m) {
			b.own = true
		}
		if b.own {
			err = b.addOwn(at, col, m)
		} else {
			var e event
			if e, err = eventOf(at, col, m); err == nil {
				err = b.add(e)
			}
		}
		if err != nil {
			return err
		}
	}
}

// eventOf reads one op of Jepsen's. Keys that it does not know belong to the test, but for one that stands in the place of the value.
func eventOf(line, column int, m edn.Map) (e event, err error) {
	e = event{line: line, column: column, index: -1, time: -1}
	var process any
	valued, misspelt := false, ""
	number := func(v any, what string) int64 {
		n, ok := whole(v)
		if (!ok || n < 0) && v != nil && err == nil {
			err = problem(line, column, "%s %s: want a number that is not negative", what, short(v))
		}
		if v == nil {
			return -1
		}
		return n
	}
	for _, p := range m {
		switch p.Key {
		case edn.Keyword("type"):
			if e.kind = typeOf(p.Value); e.kind == 0 {
				return e, problem(line, column, ":type %s: want :invoke, :ok, :fail or :info", short(p.Value))
			}
		case edn.Keyword("f"):
			f, ok := p.Value.(edn.Keyword)
			if !ok && p.Value != nil {
				return e, problem(line, column, ":f %s: want a keyword", short(p.Value))
			}
			e.f = f
		case edn.Keyword("process"):
			process = p.Value
		case edn.Keyword("value"):
			e.value, valued = p.Value, true
		case edn.Keyword("key"):
			e.key = p.Value
		case edn.Keyword("time"):
			e.time = time.Duration(number(p.Value, ":time"))
		case edn.Keyword("index"):
			e.index = number(p.Value, ":index")
		case edn.Keyword("node"):
			e.node = plain(p.Value)
		case edn.Keyword("error"):
			if p.Value != nil {
				e.problem = edn.Text(p.Value)
			}
		default:
			if key := plain(p.Key); !valued && misspelt == "" && len(key) > 2 && hint.Near(key, []string{"value"}) != "" {
				misspelt = key
			}
		}
	}
	if valued || process == edn.Keyword("nemesis") {
		misspelt = ""
	}
	switch {
	case err != nil:
	case misspelt != "":
		err = hint.Add(problem(line, column, "an op without :value, and :%s tells nothing", misspelt), "did you mean :value?")
	case e.kind == 0:
		err = problem(line, column, "an op without :type: want :invoke, :ok, :fail or :info")
	case process == nil:
		err = problem(line, column, "an op without :process: want a number, or :nemesis")
	default:
		var wrong string
		if e.process, wrong = processOf(process); wrong != "" {
			err = problem(line, column, ":%s", wrong)
		}
	}
	return e, err
}

// untagged takes the tags from a value: #jepsen.history.Op{…}, #jepsen.independent.Tuple[…].
func untagged(v any) any {
	for {
		t, ok := v.(edn.Tagged)
		if !ok {
			return v
		}
		v = t.Value
	}
}

// plain writes a name: a keyword, a symbol or a string.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case edn.Keyword:
		return string(v)
	case edn.Symbol:
		return string(v)
	}
	return edn.Text(v)
}

// short writes a value for a message. Of a whole number that is too large, alone or one of several, it says so.
func short(v any) string {
	if n, than := tooLarge(v); n != "" {
		return n + ", " + than
	}
	text := term.Clip(edn.Text(v), 60)
	items, _ := edn.Items(untagged(v))
	for _, item := range items {
		if n, than := tooLarge(item); n != "" {
			return text + ", of which " + n + " is " + than
		}
	}
	return text
}
