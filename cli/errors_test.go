package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrorsBeginWithNoPackageName holds that an error says what was being done, and to what, in words for the person who
// reads it: "write the history: …", not "history: write: …". So nothing has to be stripped off it before it is printed.
func TestErrorsBeginWithNoPackageName(t *testing.T) {
	type text struct{ place, words string }
	var texts []text
	packages := map[string]bool{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, 0)
		require.NoError(t, err)
		// A system's or an algorithm's package has the name that people give it.
		if dir := filepath.ToSlash(file); !strings.HasPrefix(dir, "../targets/systems/") && !strings.HasPrefix(dir, "../targets/algorithms/") {
			packages[f.Name.Name] = true
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && makesError(call) {
				if words, ok := beginning(call.Args[0]); ok {
					texts = append(texts, text{fset.Position(call.Pos()).String(), words})
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, len(texts), 300, "the errors are made in another way than this test knows")
	for _, x := range texts {
		name, _, _ := strings.Cut(x.words, ":")
		require.False(t, packages[name], "%s: the error %q begins with the name of a package: say what was being done", x.place, x.words)
	}
}

// makesError reports whether a call is errors.New or fmt.Errorf.
func makesError(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	from, ok := f.X.(*ast.Ident)
	return ok && (from.Name == "errors" && f.Sel.Name == "New" || from.Name == "fmt" && f.Sel.Name == "Errorf")
}

// beginning is the text that an expression begins with, where it is written out.
func beginning(e ast.Expr) (string, bool) {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		return beginning(sum.X)
	}
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	words, err := strconv.Unquote(lit.Value)
	return words, err == nil
}
