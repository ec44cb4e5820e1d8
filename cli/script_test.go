package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"recount": Main})
}

// TestScripts runs testdata/*.txtar: they specify the command line. Besides testscript's own commands there is
//
//	status N recount ARGS…   runs recount, keeps stdout and stderr, and demands exit status N
//	cut N FILE COPY          copies a file without its last N bytes
//	edit FILE REGEXP TEXT    replaces the first match in a file
//	step NAME FILE           writes what a step of action.yml runs to a file
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				got := 0
				if err := ts.Exec(args[1], args[2:]...); err != nil {
					var exit *exec.ExitError
					if !errors.As(err, &exit) {
						ts.Fatalf("%v", err)
					}
					got = exit.ExitCode()
				}
				if got != want {
					ts.Fatalf("%v: exit status %d, want %d", args[1:], got, want)
				}
			},
			"cut": func(ts *testscript.TestScript, _ bool, args []string) {
				n, err := strconv.Atoi(args[0])
				ts.Check(err)
				b, err := os.ReadFile(ts.MkAbs(args[1]))
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[2]), b[:len(b)-n], 0o644))
			},
			"step": func(ts *testscript.TestScript, _ bool, args []string) {
				script, err := actionStep(args[0])
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(script), 0o644))
			},
			"edit": func(ts *testscript.TestScript, _ bool, args []string) {
				b, err := os.ReadFile(ts.MkAbs(args[0]))
				ts.Check(err)
				at := regexp.MustCompile(args[1]).FindIndex(b)
				if at == nil {
					ts.Fatalf("%s has no %s", args[0], args[1])
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), slices.Replace(b, at[0], at[1], []byte(args[2])...), 0o644))
			},
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("DOCKER_HOST", "unix://"+e.WorkDir+"/no-engine.sock") // what needs containers is tested elsewhere
			e.Setenv("HOME", os.Getenv("HOME"))                            // where Go and Recount keep what they have built
			examples, err := filepath.Abs("../examples")
			e.Setenv("EXAMPLES", examples)
			return errors.Join(err, os.MkdirAll(e.WorkDir+"/results", 0o755))
		},
	})
}
