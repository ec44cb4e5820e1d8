package mutate

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
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

	"recount/internal/testlong"
)

var mutants = flag.Int("mutants", 150, "flip one in so many of the checkers' decisions; 0 for all of them (make mutate)")

var mutantsOf = flag.String("mutants-of", "", "only the decisions of these files, comma between")

var mutantsListed = flag.Bool("mutants-listed", false, "only the decisions that are listed as equivalent")

var mutantsIn = flag.String("mutants-in", "checkers", "the package: checkers, or checkers/linear, which decides for them")

// TestMutants flips the decisions of the checkers one at a time: a comparison takes in its boundary or leaves it out, a
// condition is always true or never, a case is missing, a smaller becomes a larger one, a statement is skipped. Each must
// be noticed by a golden history or a test. testdata/equivalent.txt lists those that nobody can notice, with the
// reason.
//
// All mutants are built into one binary, behind a variable that says which of them is on. They run in processes of their
// own, with a limit on memory and time. A mutant is tried only on what it matters to: where it comes to something else than what
// stands there. What package checkers/linear has is tried on its own tests first, and then on those of the checkers. make test-long
// tries a sample, make mutate all.
func TestMutants(t *testing.T) {
	if *mutants != 0 && *mutantsOf == "" && !*mutantsListed {
		testlong.Only(t)
	}
	m := mutation{t: t, path: *mutantsIn, dir: t.TempDir(), skip: map[string]bool{}}
	m.judge(equivalents(t))
}

// chosen are the mutants that are asked for.
func (m *mutation) chosen(equivalent map[string]bool) (chosen []int) {
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
	return chosen
}

// judge tries the mutants that are asked for: what the tests of one package do not notice, those of the next may.
func (m *mutation) judge(equivalent map[string]bool) {
	packages := []string{m.path}
	if m.path != "checkers" {
		packages = append(packages, "checkers")
	}
	var chosen, left []int
	for i, by := range packages {
		binary := m.build(by)
		trying, last := left, i == len(packages)-1
		if left = nil; i == 0 { // now that it is known which there are
			chosen = m.chosen(equivalent)
			trying = chosen
		}
		m.run(binary, by, trying, func(id int, told string) {
			key := m.all[id].String()
			switch survived := strings.HasPrefix(told, "survived"); {
			case survived:
				if left = append(left, id); last && !equivalent[key] {
					m.t.Errorf("%s: %s (line %d)", told, key, m.all[id].line)
				}
			case *mutants == 0 && told != tooMuch:
				assert.False(m.t, equivalent[key], "%s notices %s: take it off the list", told, key)
			}
		})
	}
	m.t.Logf("%s: %d mutants of %d, %d of them noticed", m.path, len(chosen), len(m.all)-1, len(chosen)-len(left))
	if *mutants > 0 || *mutantsOf != "" || *mutantsListed {
		return
	}
	known := map[string]bool{}
	for _, f := range m.all {
		known[f.String()] = true
	}
	for key := range equivalent {
		if strings.HasPrefix(key, "linear/") == (m.path == "checkers/linear") {
			assert.True(m.t, known[key], "there is no mutant %s", key)
		}
	}
}

// equivalents returns the mutants that nobody can notice.
func equivalents(t *testing.T) map[string]bool {
	text, err := os.ReadFile(filepath.Join("testdata", "equivalent.txt"))
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

// mutation is the making of mutants of one package.
type mutation struct {
	t     *testing.T
	path  string            // of the package, from the module's root
	dir   string            // where its mutants are written
	all   []flipped         // by number; the first stands for none
	like  map[flipped]int   // how many there were
	files map[string]string // what stands in for which file
	skip  map[string]bool   // decisions whose types do not allow it
}

// notDecisions are files that put results into words, or ask the machine what memory it has.
var notDecisions = []string{"words.go", "results.go", "memory.go"}

// atStart are functions that have done their work before any mutant is on.
var atStart = []string{"init", "register", "order"}

// folder is where a package is.
func (m *mutation) folder(path string) string {
	folder, err := filepath.Abs(filepath.Join("..", "..", path))
	require.NoError(m.t, err)
	return folder
}

// rewrite writes the mutated sources and the tests of a package that are to notice, and says what to build in place of what.
func (m *mutation) rewrite(by string) {
	m.all, m.like, m.files = make([]flipped, 1), map[flipped]int{}, map[string]string{}
	sources, err := filepath.Glob(filepath.Join(m.folder(m.path), "*.go"))
	require.NoError(m.t, err)
	for _, path := range sources {
		if file := filepath.Base(path); !strings.HasSuffix(file, "_test.go") && !slices.Contains(notDecisions, file) {
			text, err := os.ReadFile(path)
			require.NoError(m.t, err)
			m.put(m.path, file, m.mutate(file, text))
		}
	}
	m.put(m.path, "mutant.go", m.source(m.path, "mutant.go.txt"))
	if by != m.path {
		m.put(by, "mutant.go", m.source(by, "mutant_of_linear.go.txt"))
	}
	m.put(by, "mutant_trials_test.go", m.source(by, "trials_"+filepath.Base(by)+"_test.go.txt"))
	m.put(by, "mutant_test.go", m.source(by, "mutant_test.go.txt")+m.tests(by))
}

// tests lists the tests of a package for what runs them.
func (m *mutation) tests(by string) string {
	sources, err := filepath.Glob(filepath.Join(m.folder(by), "*_test.go"))
	require.NoError(m.t, err)
	b := new(strings.Builder)
	for _, path := range sources {
		text, err := os.ReadFile(path)
		require.NoError(m.t, err)
		for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`).FindAllStringSubmatch(string(text), -1) {
			switch found[1] {
			case "TestGoals", "TestGoalsOfShapes", "TestGolden", "TestCases", "TestSentences", "TestGoldenRandom", "TestGoldenRandomObjects", "TestGoldenRandomSmall", "TestMemoryLimit", "TestLongAgo", "TestContract", "TestEvidence": // they run the others, or for long
			default:
				fmt.Fprintf(b, "\t{%q, %s},\n", found[1], found[1])
			}
		}
	}
	return b.String() + "}\n"
}

// source returns what is added to a package.
func (m *mutation) source(path, file string) string {
	text, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(m.t, err)
	_, rest, _ := strings.Cut(string(text), "\n")
	return "package " + filepath.Base(path) + "\n" + rest
}

func (m *mutation) put(path, file, text string) {
	written := filepath.Join(m.dir, path, file)
	require.NoError(m.t, os.MkdirAll(filepath.Dir(written), 0o700))
	require.NoError(m.t, os.WriteFile(written, []byte(text), 0o600))
	m.files[filepath.Join(m.folder(path), file)] = written
}

// build builds the tests of a package with the mutants in what they test. Decisions on types that the mutants do not allow for are
// left alone.
func (m *mutation) build(by string) string {
	overlay, binary := filepath.Join(m.dir, "overlay.json"), filepath.Join(m.dir, filepath.Base(by)+".mutants.test")
	position := regexp.MustCompile(`([a-z_]+\.go):(\d+):`)
	for range 5 {
		m.rewrite(by)
		text, err := json.Marshal(map[string]any{"Replace": m.files})
		require.NoError(m.t, err)
		require.NoError(m.t, os.WriteFile(overlay, text, 0o600))
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-gcflags=-e", "-overlay", overlay, "-o", binary, ".")
		cmd.Dir = m.folder(by)
		out, err := cmd.CombinedOutput()
		if err == nil {
			return binary
		}
		before := len(m.skip)
		for _, found := range position.FindAllStringSubmatch(string(out), -1) {
			m.skip[found[1]+":"+found[2]] = true
		}
		require.Greater(m.t, len(m.skip), before, "%s", out)
	}
	require.FailNow(m.t, "the mutants do not compile")
	return ""
}

// run runs mutants, in as many processes as there are cores, and tells what became of each as soon as it is known.
func (m *mutation) run(binary, by string, ids []int, tell func(id int, told string)) {
	_, err := m.process(binary, by, nil)
	require.NoError(m.t, err)
	queue := make(chan []int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	all := 0
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for batch := range queue {
				for len(batch) > 0 {
					told, err := m.process(binary, by, batch)
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
					for id, what := range told {
						tell(id, what)
					}
					if all += done; len(ids) > 100 {
						m.t.Logf("%d of %d", all, len(ids))
					}
					mu.Unlock()
				}
			}
		})
	}
	for batch := range slices.Chunk(ids, max(1, min(30, len(ids)/4))) {
		queue <- batch
	}
	close(queue)
	wg.Wait()
}

// tooMuch is what is told of a mutant that had to be ended.
const tooMuch = "took too much"

// process runs mutants in a process of their own until one of them ends it, and returns what it told of each.
func (m *mutation) process(binary, by string, ids []int) (map[int]string, error) {
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
	cmd.Dir = m.folder(by)
	cmd.Env = append(os.Environ(), "RECOUNT_MUTANTS="+strings.Join(list, " "), "RECOUNT_MATTERS="+binary+".json", "GOMEMLIMIT=1GiB", "GOMAXPROCS=2")
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
