package mutate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// mutate returns a source with all of its decisions behind the switch.
func (m *mutation) mutate(file string, text []byte) string {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	require.NoError(m.t, err)
	w := &rewriting{mutation: m, file: file, text: text, fset: fset, looping: map[ast.Expr]bool{}}
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if w.function = d.Name.Name; !slices.Contains(atStart, w.function) && d.Body != nil {
				w.walk(d.Body)
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				for _, s := range d.Specs {
					w.function = s.(*ast.ValueSpec).Names[0].Name
					w.walk(s)
				}
			}
		}
	}
	slices.SortStableFunc(w.edits, func(a, b edit) int { return a.at - b.at })
	b, done := new(strings.Builder), 0
	for _, e := range w.edits {
		b.Write(text[done:e.at])
		b.WriteString(e.text)
		done = e.at + e.over
	}
	b.Write(text[done:])
	if strings.Contains(string(text), "\t\"cmp\"\n") {
		b.WriteString("\nvar _ = cmp.Compare[int]\n") // its uses may all have become mutants
	}
	return b.String()
}

// edit puts text at a place, over some of what was there.
type edit struct {
	at, over int
	text     string
}

type rewriting struct {
	*mutation
	file, function string
	text           []byte
	fset           *token.FileSet
	edits          []edit
	looping        map[ast.Expr]bool // conditions of loops, which do not end if they are always true
}

func (w *rewriting) offset(p token.Pos) int { return w.fset.Position(p).Offset }

// number takes note of a mutant and returns its number; false if its types do not allow it.
func (w *rewriting) number(n ast.Node, how string) (int, bool) {
	p := w.fset.Position(n.Pos())
	end := w.fset.Position(n.End())
	for line := p.Line; line <= min(end.Line, p.Line+1); line++ {
		if w.skip[fmt.Sprintf("%s:%d", w.file, line)] {
			return 0, false
		}
	}
	what := strings.Join(strings.Fields(string(w.text[p.Offset:end.Offset])), " ")
	if len(what) > 70 {
		what = what[:70] + "…"
	}
	f := flipped{file: strings.TrimPrefix(w.path+"/"+w.file, "checkers/"), function: w.function, what: what, how: how}
	w.like[f]++
	f.nth, f.line = w.like[f], p.Line
	w.all = append(w.all, f)
	return len(w.all) - 1, true
}

// around calls a function on what n is.
func (w *rewriting) around(n ast.Node, open, end string, inner func()) {
	w.edits = append(w.edits, edit{at: w.offset(n.Pos()), text: open})
	inner()
	w.edits = append(w.edits, edit{at: w.offset(n.End()), text: end})
}

var boundaries = map[token.Token][2]string{
	token.LSS: {"mLess", "<="}, token.LEQ: {"mLessEqual", "<"}, token.GTR: {"mMore", ">="}, token.GEQ: {"mMoreEqual", ">"},
}

func (w *rewriting) walk(root ast.Node) {
	if root == nil {
		return
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST
		case *ast.ForStmt:
			if n.Cond != nil {
				w.loops(n.Cond)
			}
		case *ast.IfStmt:
			if n.Init != nil {
				w.walk(n.Init)
			}
			w.condition(n.Cond)
			w.walk(n.Body)
			if n.Else != nil {
				w.walk(n.Else)
			}
			return false
		case *ast.BinaryExpr:
			return w.binary(n)
		case *ast.CallExpr:
			return w.call(n)
		case *ast.BlockStmt:
			w.statements(n.List)
			return false
		case *ast.SwitchStmt:
			w.cases(n)
			return false
		case *ast.CaseClause: // of a type switch
			w.statements(n.Body)
			return false
		}
		return true
	})
}

// loops marks the conditions of a loop.
func (w *rewriting) loops(e ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			w.looping[e] = true
		}
		return true
	})
}

// condition makes a condition true or false whatever it is, and goes on with what it consists of.
func (w *rewriting) condition(e ast.Expr) {
	if b, ok := e.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
		w.walk(e)
		return
	}
	w.force(e, func() {
		if b, ok := e.(*ast.BinaryExpr); ok {
			w.compare(b)
			return
		}
		w.walk(e)
	})
}

func (w *rewriting) force(e ast.Expr, inner func()) {
	if w.looping[e] {
		inner()
		return
	}
	id, ok := w.number(e, "always")
	if !ok {
		inner()
		return
	}
	w.number(e, "never")
	w.around(e, fmt.Sprintf("mForce(%d, ", id), ")", inner)
}

func (w *rewriting) binary(n *ast.BinaryExpr) bool {
	switch n.Op {
	case token.LAND, token.LOR:
		w.condition(n.X)
		w.condition(n.Y)
		return false
	case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
		w.force(n, func() { w.compare(n) })
		return false
	case token.ADD, token.SUB:
		name := map[token.Token]string{token.ADD: "mPlus", token.SUB: "mMinus"}[n.Op]
		text := string(w.text[w.offset(n.Pos()):w.offset(n.End())])
		if strings.Contains(text, `"`) {
			return false
		}
		id, ok := w.number(n, "without the second")
		if !ok {
			return true
		}
		w.operands(n, name, id)
		return false
	}
	return true
}

// compare flips what a comparison says of its boundary.
func (w *rewriting) compare(n *ast.BinaryExpr) {
	b, ok := boundaries[n.Op]
	if ok {
		if id, ok := w.number(n, b[1]); ok {
			w.operands(n, b[0], id)
			return
		}
	}
	w.walk(n.X)
	w.walk(n.Y)
}

// operands calls a function on the operands in place of the operator.
func (w *rewriting) operands(n *ast.BinaryExpr, name string, id int) {
	w.around(n, fmt.Sprintf("%s(%d, ", name, id), ")", func() {
		w.walk(n.X)
		w.edits = append(w.edits, edit{w.offset(n.OpPos), len(n.Op.String()), ","})
		w.walk(n.Y)
	})
}

func (w *rewriting) call(n *ast.CallExpr) bool {
	instead := map[string]string{"min": "mMin", "max": "mMax", "cmp.Compare": "mCompare"}
	to, ok := instead[string(w.text[w.offset(n.Fun.Pos()):w.offset(n.Fun.End())])]
	if !ok {
		return true
	}
	if id, ok := w.number(n, "the other way"); ok {
		w.edits = append(w.edits, edit{w.offset(n.Fun.Pos()), w.offset(n.Lparen) + 1 - w.offset(n.Fun.Pos()), fmt.Sprintf("%s(%d, ", to, id)})
		for _, a := range n.Args {
			w.walk(a)
		}
		return false
	}
	return true
}

// statements skips those that can be: what declares or leaves cannot.
func (w *rewriting) statements(list []ast.Stmt) {
	for _, s := range list {
		inner := func() { w.walk(s) }
		switch n := s.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				inner()
				continue
			}
		case *ast.ExprStmt:
			if c, ok := n.X.(*ast.CallExpr); ok && string(w.text[w.offset(c.Fun.Pos()):w.offset(c.Fun.End())]) == "panic" {
				inner()
				continue
			}
		case *ast.IncDecStmt:
		case *ast.BranchStmt:
			if n.Tok == token.GOTO || n.Tok == token.FALLTHROUGH {
				continue
			}
		default:
			inner()
			continue
		}
		if id, ok := w.number(s, "skipped"); ok {
			w.around(s, fmt.Sprintf("if !mSkip(%d) { ", id), " }", inner)
		} else {
			inner()
		}
	}
}

// cases leaves out each value that a switch knows.
func (w *rewriting) cases(n *ast.SwitchStmt) {
	if n.Init != nil {
		w.walk(n.Init)
	}
	if n.Tag != nil {
		w.walk(n.Tag)
	}
	for _, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		for _, e := range c.List {
			if n.Tag == nil {
				w.condition(e)
			} else if id, ok := w.number(e, "no such case"); ok {
				w.around(e, fmt.Sprintf("mCase(%d, ", id), ")", func() {})
			}
		}
		w.statements(c.Body)
	}
}
