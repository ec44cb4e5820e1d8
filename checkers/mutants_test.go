package checkers

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var mutants = flag.Int("mutants", 150, "flip one in so many of the checkers' decisions; 0 for all of them (make mutate)")

var mutantsOf = flag.String("mutants-of", "", "only the decisions of these files, comma between")

var mutantsListed = flag.Bool("mutants-listed", false, "only the decisions that are listed as equivalent")

// TestMutants flips the decisions of this package one at a time: a comparison takes in its boundary or leaves it out, a
// condition is always true or never, a case is missing, a smaller becomes a larger one, a statement is skipped. Each must
// be noticed by a golden history or a test. testdata/equivalent_mutants.txt lists those that nobody can notice, with the
// reason.
//
// All mutants are built into one binary, behind a variable that says which of them is on. They run in processes of their
// own, with a limit on memory and time. make test tries a sample, make mutate all.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: it builds all tests anew")
	}
	m := mutation{t: t, dir: t.TempDir()}
	m.rewrite()
	binary := m.build()
	equivalent := equivalents(t)
	var chosen []int
	for id := 1; id < len(m.all); id++ {
		if *mutantsOf != "" && !slices.Contains(strings.Split(*mutantsOf, ","), m.all[id].file) {
			continue
		}
		key := m.all[id].String()
		if *mutantsListed && !equivalent[key] {
			continue
		}
		h := fnv.New32a()
		h.Write([]byte(key))
		if *mutants == 0 || h.Sum32()%uint32(*mutants) == 0 {
			chosen = append(chosen, id)
		}
	}
	told := m.run(binary, chosen)
	survived := 0
	for _, id := range chosen {
		key := m.all[id].String()
		switch {
		case strings.HasPrefix(told[id], "survived"):
			if survived++; !equivalent[key] {
				t.Errorf("%s: %s (line %d)", told[id], key, m.all[id].line)
			}
		case *mutants == 0 && told[id] != tooMuch:
			assert.False(t, equivalent[key], "%s notices %s: take it off the list", told[id], key)
		}
	}
	t.Logf("%d mutants of %d, %d of them noticed", len(chosen), len(m.all)-1, len(chosen)-survived)
	if *mutants > 0 || *mutantsOf != "" || *mutantsListed {
		return
	}
	known := map[string]bool{}
	for _, f := range m.all {
		known[f.String()] = true
	}
	for key := range equivalent {
		assert.True(t, known[key], "there is no mutant %s", key)
	}
}

// equivalents returns the mutants that nobody can notice.
func equivalents(t *testing.T) map[string]bool {
	text, err := os.ReadFile(filepath.Join("testdata", "equivalent_mutants.txt"))
	require.NoError(t, err)
	all, reason := map[string]bool{}, false
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case line == "":
			reason = false
		case strings.HasPrefix(line, "#"):
			reason = true
		default:
			require.True(t, reason, "%s: the reason stands above it", line)
			require.False(t, all[line], "%s: listed twice", line)
			all[line] = true
		}
	}
	return all
}

// flipped is one decision that is flipped.
type flipped struct {
	file, function, what, how string
	nth, line                 int // nth of its like in the function, from 1
}

func (f flipped) String() string {
	s := fmt.Sprintf("%s %s: %s: %s", f.file, f.function, f.what, f.how)
	if f.nth > 1 {
		s += fmt.Sprintf(" (%d)", f.nth)
	}
	return s
}

// mutation is the making of mutants.
type mutation struct {
	t     *testing.T
	dir   string
	all   []flipped         // by number; the first stands for none
	like  map[flipped]int   // how many there were
	files map[string]string // what stands in for which file
	skip  map[string]bool   // decisions whose types do not allow it
}

// notDecisions are files that put results into words, or ask the machine what memory it has.
var notDecisions = []string{"words.go", "results.go", "memory.go"}

// atStart are functions that have done their work before any mutant is on.
var atStart = []string{"init", "register", "order"}

// rewrite writes the mutated sources, and says what to build in place of what.
func (m *mutation) rewrite() {
	here, err := os.Getwd()
	require.NoError(m.t, err)
	m.all, m.like, m.files = make([]flipped, 1), map[flipped]int{}, map[string]string{}
	sources, err := filepath.Glob("*.go")
	require.NoError(m.t, err)
	var tests []string
	for _, file := range sources {
		text, err := os.ReadFile(file)
		require.NoError(m.t, err)
		if strings.HasSuffix(file, "_test.go") {
			for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`).FindAllStringSubmatch(string(text), -1) {
				tests = append(tests, found[1])
			}
			continue
		}
		if !slices.Contains(notDecisions, file) {
			m.put(here, file, m.mutate(file, text))
		}
	}
	on, err := os.ReadFile(filepath.Join("testdata", "mutant.go.txt"))
	require.NoError(m.t, err)
	m.put(here, "mutant.go", string(on))
	run, err := os.ReadFile(filepath.Join("testdata", "mutant_test.go.txt"))
	require.NoError(m.t, err)
	b := new(strings.Builder)
	b.Write(run)
	for _, name := range tests {
		switch name {
		case "TestMutants", "TestGoals", "TestGolden", "TestCases", "TestSentences", "TestGoldenRandom", "TestGoldenRandomObjects", "TestMemoryLimit", "TestContract", "TestEvidence", "TestOracles": // they run the others, or for long
		default:
			fmt.Fprintf(b, "\t{%q, %s},\n", name, name)
		}
	}
	b.WriteString("}\n")
	m.put(here, "mutant_test.go", b.String())
}

func (m *mutation) put(here, file, text string) {
	written := filepath.Join(m.dir, file)
	require.NoError(m.t, os.WriteFile(written, []byte(text), 0o600))
	m.files[filepath.Join(here, file)] = written
}

// build builds the tests with the mutants in them. Decisions on types that the mutants do not allow for are left alone.
func (m *mutation) build() string {
	overlay, binary := filepath.Join(m.dir, "overlay.json"), filepath.Join(m.dir, "mutants.test")
	m.skip = map[string]bool{}
	position := regexp.MustCompile(`([a-z_]+\.go):(\d+):`)
	for range 5 {
		text, err := json.Marshal(map[string]any{"Replace": m.files})
		require.NoError(m.t, err)
		require.NoError(m.t, os.WriteFile(overlay, text, 0o600))
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay", overlay, "-o", binary, ".")
		out, err := cmd.CombinedOutput()
		if err == nil {
			return binary
		}
		before := len(m.skip)
		for _, found := range position.FindAllStringSubmatch(string(out), -1) {
			m.skip[found[1]+":"+found[2]] = true
		}
		require.Greater(m.t, len(m.skip), before, "%s", out)
		m.rewrite()
	}
	m.t.Fatal("the mutants do not compile")
	return ""
}

// run runs mutants, in as many processes as there are cores, and returns what became of each.
func (m *mutation) run(binary string, ids []int) map[int]string {
	reached := filepath.Join(m.dir, "reached.json")
	_, err := process(binary, reached, nil)
	require.NoError(m.t, err)
	queue := make(chan []int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	all := map[int]string{}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for batch := range queue {
				for len(batch) > 0 {
					told, err := process(binary, reached, batch)
					if err != nil {
						m.t.Error(err)
						break
					}
					done := len(told)
					if done < len(batch) && (done == 0 || told[batch[done-1]] != tooMuch) {
						told[batch[done]] = "a crash" // it took the whole process with it
						done++
					}
					batch = batch[done:]
					mu.Lock()
					maps.Copy(all, told)
					if len(ids) > 1000 {
						m.t.Logf("%d of %d", len(all), len(ids))
					}
					mu.Unlock()
				}
			}
		})
	}
	for batch := range slices.Chunk(ids, max(1, min(100, len(ids)/4))) {
		queue <- batch
	}
	close(queue)
	wg.Wait()
	return all
}

// tooMuch is what is told of a mutant that had to be ended.
const tooMuch = "took too much"

// process runs mutants in a process of their own until one of them ends it, and returns what it told of each.
func process(binary, reached string, ids []int) (map[int]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	// The shell's limit is what the kernel holds to; the process ends itself long before.
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 4194304 2>/dev/null; exec "$@"`, "sh", binary,
		"-test.run", "^TestEachMutant$", "-test.timeout", "30m",
		"-rapid.seed", "1", "-rapid.checks", "300", "-rapid.nofailfile", "-rapid.shrinktime", "0s")
	var list []string
	for _, id := range ids {
		list = append(list, strconv.Itoa(id))
	}
	cmd.Env = append(os.Environ(), "RECOUNT_MUTANTS="+strings.Join(list, " "), "RECOUNT_REACHED="+reached, "GOMEMLIMIT=1GiB", "GOMAXPROCS=2")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	told := map[int]string{}
	var heard []string // of what none of the mutants makes fail
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if len(ids) == 0 {
			heard = append(heard, lines.Text())
		}
		words := strings.SplitN(lines.Text(), " ", 3)
		if len(words) < 3 || words[0] != "mutant" {
			continue
		}
		id, err := strconv.Atoi(words[1])
		if err != nil {
			continue
		}
		told[id] = strings.TrimPrefix(words[2], "killed: ")
		if strings.HasPrefix(told[id], "took more than") {
			told[id] = tooMuch
		}
	}
	if err := cmd.Wait(); err != nil && len(ids) == 0 { // with a mutant on, its tests are meant to fail
		return nil, fmt.Errorf("without a mutant: %w\n%s", err, strings.Join(heard[max(0, len(heard)-40):], "\n"))
	}
	return told, nil
}

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
	f := flipped{file: w.file, function: w.function, what: what, how: how}
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
