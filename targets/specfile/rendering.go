package specfile

import (
	"errors"
	"regexp"
	"strings"
	"text/template"

	"recount/election"
	"recount/internal/hint"
	"recount/internal/option"
	"recount/targets"
)

// Templates: how they are read, tried and filled in.

// templates reads a list of templates.
func (s *Spec) templates(v value) ([]*template.Template, error) {
	example, err := s.example()
	if err != nil {
		return nil, err
	}
	return example.templates(v)
}

// templates reads a list of templates, and tries them.
func (w words) templates(v value) (all []*template.Template, err error) {
	for _, one := range v.list() {
		t, err := w.template(one)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// command reads the templates of a program and what it is told.
func (s *Spec) command(v value) ([]*template.Template, error) {
	example, err := s.example()
	if err != nil {
		return nil, err
	}
	return example.command(v)
}

// command reads the templates of a program and what it is told, and tries them.
func (w words) command(v value) ([]*template.Template, error) {
	if len(v.list()) == 0 {
		return nil, v.bad("[PROGRAM, …]", "%s: it is empty", v.name)
	}
	return w.templates(v)
}

// template reads one template, and tries it on a cluster of three.
func (s *Spec) template(v value) (*template.Template, error) {
	example, err := s.example()
	if err != nil {
		return nil, err
	}
	return example.template(v)
}

// template reads one template, and tries it.
func (w words) template(v value) (*template.Template, error) {
	text, err := v.text()
	if err != nil {
		return nil, err
	}
	const way = `{{.ID}}, {{.Index}}, {{.Name}}, {{.Addr}}, {{.Size}}, {{.Voter}}, {{addr 1}}, {{port "NAME"}}, {{param "NAME"}}, {{others "," "{addr}:{PORT}"}}`
	t, err := template.New(v.name).Option("missingkey=error").Funcs(w.funcs()).Parse(text)
	if err == nil {
		countRounds(t)
		_, err = w.render(t)
	}
	if err != nil {
		h := hint.Of(err)
		if h == "" {
			h = way
		}
		return nil, v.bad(h, "%s: %s", v.name, plain(err))
	}
	return t, nil
}

// plain is what a template's error comes down to for the person who wrote the template.
func plain(err error) string {
	var exec template.ExecError
	if errors.As(err, &exec) {
		err = exec.Err
	}
	text := err.Error()
	if _, after, ok := strings.Cut(text, "error calling "); ok {
		return strings.TrimPrefix(after, "rounds: ") // nobody has written that
	}
	if at := strings.Index(text, ">: "); at >= 0 {
		return text[at+3:]
	}
	return text
}

// pattern reads a template of a regular expression, and tries it.
func (w words) pattern(v value) (*template.Template, error) {
	t, err := w.template(v)
	if err != nil {
		return nil, err
	}
	if _, err := w.compile(t); err != nil {
		return nil, v.bad(patternWay, "%s: %v", v.name, err)
	}
	return t, nil
}

// compile is what a template of a regular expression comes to.
func (w words) compile(t *template.Template) (*regexp.Regexp, error) {
	text, err := w.render(t)
	if err != nil {
		return nil, err
	}
	return regexp.Compile(text)
}

// example is what templates are tried on.
func (s *Spec) example() (words, error) {
	options, err := option.Parse(s.Name, s.Parameters, nil)
	if err != nil {
		return words{}, err
	}
	w := words{s: s, options: options, all: unplaced(3), said: s.Bootstrap.assumed(), tried: true}
	w.self = w.all[0]
	w.servers = s.unreached(w)
	return w, nil
}

// unplaced are the nodes of a cluster of which nobody knows yet where it will be.
func unplaced(nodes int) (all []election.Member) {
	for id := election.ID(1); int(id) <= nodes; id++ {
		all = append(all, election.Member{ID: id, Name: id.String(), Addr: targets.Unplaced(id)})
	}
	return all
}

func (w words) render(t *template.Template) (string, error) {
	own, err := t.Clone()
	if err != nil {
		return "", err
	}
	own.Funcs(w.funcs())
	place, err := w.place()
	if err != nil {
		return "", err
	}
	var data any = place
	if w.write != nil {
		data = writing{place, w.write.Token, w.write.Value}
	}
	if w.put != nil {
		data = putting{place, *w.put}
	}
	if w.member != nil {
		of := w
		of.self = *w.member
		member, err := of.place()
		if err != nil {
			return "", err
		}
		data = changed{place, member}
	}
	var b capped
	err = own.Execute(&b, data)
	return b.text.String(), err
}

// renderAll leaves out what comes to nothing, so that a flag can be there or not. What is written as nothing is an empty word.
func (w words) renderAll(ts []*template.Template) (all []string, err error) {
	for _, t := range ts {
		text, err := w.render(t)
		if err != nil {
			return nil, err
		}
		if text != "" || len(t.Root.Nodes) == 1 { // countRounds' own
			all = append(all, text)
		}
	}
	return all, nil
}
