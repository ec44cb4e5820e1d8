package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"recount/harness/batch"
	"recount/harness/record"
	"recount/internal/hint"
)

// checked runs check on files that lie in a folder.
func checked(t *testing.T, files map[string]string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	var out, errs bytes.Buffer
	status = run(append([]string{"check"}, args...), &out, &errs)
	return status, out.String(), errs.String()
}

// zipped compresses a text, each of its lines so that it can be had without what follows.
func zipped(t *testing.T, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for line := range strings.Lines(text) {
		_, err := io.WriteString(z, line)
		require.NoError(t, err)
		require.NoError(t, z.Flush())
	}
	require.NoError(t, z.Close())
	return b.String()
}

const (
	legal = `{:type :invoke, :process 0, :f :write, :value 1}
{:type :ok, :process 0, :f :write, :value 1}
{:type :invoke, :process 1, :f :read, :value nil}
{:type :ok, :process 1, :f :read, :value 1}
`
	illegal = `{:type :invoke, :process 0, :f :write, :value 1}
{:type :ok, :process 0, :f :write, :value 1}
{:type :invoke, :process 1, :f :read, :value nil}
{:type :ok, :process 1, :f :read, :value 9}
`
	fromNought = `{:type :invoke, :process 1, :f :read, :value nil}
{:type :ok, :process 1, :f :read, :value 0}
{:type :invoke, :process 0, :f :write, :value 1}
{:type :ok, :process 0, :f :write, :value 1}
`
)

func TestEachFileHasItsOwnResult(t *testing.T) {
	files := map[string]string{
		"odd.edn": "[{:type [1], :process 0, :f :read}]", "good.edn": legal, "bad.edn": illegal, "empty.jsonl": "",
		"other.edn": `{:type :invoke, :process 0, :f :write, :value 1}` + "\n" + `{:process "1" :type :ok :f :read :value 9}`,
	}
	status, stdout, stderr := checked(t, files, "odd.edn", "good.edn", "other.edn", "bad.edn", "nosuch.edn")
	require.Equal(t, record.StatusUsage, status)
	require.Contains(t, stdout, "good.edn")
	require.Contains(t, stdout, "bad.edn")
	require.Contains(t, stderr, "odd.edn: line 1, column 2: :type [1]: want :invoke, :ok, :fail or :info")
	require.Contains(t, stderr, `other.edn: line 2, column 1: :process "1": want a number, or :nemesis`)
	require.Contains(t, stderr, "nosuch.edn: no such file")

	status, stdout, _ = checked(t, files, "--json", "odd.edn", "good.edn", "bad.edn", "empty.jsonl")
	require.Equal(t, record.StatusUsage, status)
	want := []string{"odd.edn 254", "good.edn 0", "bad.edn 1", "empty.jsonl 2"}
	d := json.NewDecoder(strings.NewReader(stdout))
	var got []string
	for d.More() {
		var one struct {
			File   string
			Status int
		}
		require.NoError(t, d.Decode(&one), stdout)
		got = append(got, fmt.Sprint(one.File, " ", one.Status))
	}
	require.Equal(t, want, got)

	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"good.edn", "empty.jsonl"}, record.StatusUnknown}, {[]string{"empty.jsonl", "bad.edn", "good.edn"}, record.StatusBroken},
		{[]string{"odd.edn", "bad.edn"}, record.StatusUsage}, {[]string{"good.edn", "good.edn"}, record.StatusHeld},
	} {
		status, _, _ := checked(t, files, c.args...)
		require.Equal(t, c.want, status, c.args)
	}
}

func TestACrashOverOneFileIsItsOwn(t *testing.T) {
	crash := fmt.Errorf("judge: %w", &batch.Panic{Value: "index out of range", Site: "recount/checkers.f:7"})
	err := crashOver("crashing.edn", crash)
	require.EqualError(t, err, "crashing.edn: recount crashed: index out of range (recount/checkers.f:7)")
	require.NotEmpty(t, hint.Of(err))
	require.Equal(t, record.StatusFailed, statusOf(err))
	require.Equal(t, record.StatusFailed, worse(record.StatusUsage, record.StatusFailed))
	require.EqualError(t, crashOver("x", errors.New("as it was")), "as it was")
}

func TestWhatWasCutOffIsReadUpToThere(t *testing.T) {
	whole := zipped(t, legal)
	files := map[string]string{
		"whole.edn.gz": whole, "cut.edn.gz": whole[:len(whole)-12], "wrong.edn.gz": zipped(t, illegal)[:len(zipped(t, illegal))-12],
		"begin.gz": whole[:5], "half.edn": "[" + legal, "wrong.edn": "[" + illegal, "open.edn": legal + `{:type :invoke, :process 0, :f :write, :value 2}`,
		"spoilt.gz": whole[:30] + "xxxx" + whole[34:], "folder/history.edn.gz": whole,
		"run.jsonl.gz": zipped(t, `{"index":0,"time":0,"process":0,"type":"invoke","f":"observe","node":"n1"}`+"\n")[:70],
	}
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"whole.edn.gz", record.StatusHeld, "linearizable  valid"},
		{"folder", record.StatusHeld, "linearizable  valid"},
		{"cut.edn.gz", record.StatusUsage, "cut.edn.gz: decompress: unexpected EOF"},
		{"cut.edn.gz", record.StatusUsage, "hint: --cut judges what comes before"},
		{"--cut cut.edn.gz", record.StatusUnknown, "cut short"},
		{"--cut wrong.edn.gz", record.StatusBroken, "linearizable  invalid"},
		{"begin.gz", record.StatusUsage, "hint: "},
		{"--cut begin.gz", record.StatusUnknown, ""},
		{"run.jsonl.gz", record.StatusUsage, "--cut judges what comes before"},
		{"--cut run.jsonl.gz", record.StatusUnknown, "cut short"},
		{"spoilt.gz", record.StatusUsage, "spoilt.gz: decompress: "},
		{"half.edn", record.StatusUsage, "hint: --cut judges what comes before"},
		{"--cut half.edn", record.StatusUnknown, "cut short"},
		{"--cut wrong.edn", record.StatusBroken, "linearizable  invalid"},
		{"open.edn", record.StatusUnknown, "no sign that"},
		{"--cut open.edn", record.StatusUnknown, "no sign that"},
	} {
		status, stdout, stderr := checked(t, files, strings.Fields(c.args)...)
		require.Equal(t, c.status, status, "%s: %s%s", c.args, stdout, stderr)
		require.Contains(t, strings.Join(strings.Fields(stdout+stderr), " "), strings.Join(strings.Fields(c.says), " "), c.args)
	}
}

func TestJSONThatIsNotInLinesIsMistakenForNothingElse(t *testing.T) {
	const op = `{"index":0,"time":0,"process":0,"type":"invoke","f":"observe","node":"n1"}`
	files := map[string]string{"array.json": "[" + op + "]\n", "long.json": "[\n" + op + "\n]\n", "over.json": "{\n" + op[1:] + "\n"}
	for file, want := range map[string]string{
		"array.json": "line 1, column 1: no op: a JSON array", "long.json": "hint: jq -c '.[]' FILE makes lines", "over.json": "jq -c . FILE",
	} {
		status, _, stderr := checked(t, files, file)
		require.Equal(t, record.StatusUsage, status, file)
		require.Contains(t, stderr, want, file)
	}
}

func TestWhereAHistoryIsFoundAndWhereNot(t *testing.T) {
	files := map[string]string{
		"store/latest/history.edn": legal, "store/latest/test.jepsen": "JEPSEN\x00\x01", "store/etcd/2026/history.edn": legal,
		"binary/test.fressian": "\xef\xdd", "text/history.txt": "0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n1\t:invoke\t:read\tnil\n1\t:ok\t:read\t1\n",
		"several/a/history.edn": legal, "several[1]/a/history.edn": legal, "none/results.edn": "{}",
	}
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"store/latest", record.StatusHeld, "valid"},
		{"text", record.StatusHeld, "valid"},
		{"store", record.StatusUsage, "hint: it holds those of several runs; the newest one is store/latest"},
		{"several", record.StatusUsage, "one of them is several/a"},
		{"several[1]", record.StatusUsage, "one of them is several[1]/a"},
		{"binary", record.StatusUsage, "binary holds no history, but a test.fressian recount: hint: Jepsen writes a history.edn beside it"},
		{"binary/test.fressian", record.StatusUsage, "a test in Jepsen's own format, which is not read here recount: hint: Jepsen writes"},
		{"store/latest/test.jepsen", record.StatusUsage, "a test in Jepsen's own format"},
		{"none", record.StatusUsage, "none holds no history"},
	} {
		status, stdout, stderr := checked(t, files, strings.Fields(c.args)...)
		require.Equal(t, c.status, status, "%s: %s%s", c.args, stdout, stderr)
		require.Contains(t, strings.Join(strings.Fields(stdout+stderr), " "), c.says, c.args)
	}
}

func TestWhatRegistersHeldAtFirst(t *testing.T) {
	files := map[string]string{
		"plain/history.edn": fromNought,
		"told/history.edn":  fromNought, "told/test.edn": "{:name \"x\" :model #knossos.model.CASRegister{:value 0}}",
		"odd/history.edn": fromNought, "odd/test.edn": "{:fn #<Fn 1>}",
		"run.jsonl": `{"index":0,"time":0,"process":0,"type":"invoke","f":"observe","node":"n1"}`,
	}
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"plain"}, record.StatusBroken, "read 0 from the register"},
		{[]string{"plain", "--initial", "0"}, record.StatusHeld, "valid"},
		{[]string{"plain", "--initial", "0N"}, record.StatusHeld, "valid"},
		{[]string{"plain", "--initial", "0.0"}, record.StatusBroken, "read 0"},
		{[]string{"told"}, record.StatusHeld, "valid"},
		{[]string{"told", "--initial", "1"}, record.StatusBroken, "read 0"},
		{[]string{"odd"}, record.StatusUsage, "hint: --initial VALUE says what registers held at first"},
		{[]string{"odd", "--initial", "0"}, record.StatusHeld, "valid"},
		{[]string{"plain", "--initial", "[0"}, record.StatusUsage, "hint: want a value of EDN"},
		{[]string{"run.jsonl", "--initial", "0"}, record.StatusUsage, "leave out --model, --independent and --initial"},
	} {
		status, stdout, stderr := checked(t, files, c.args...)
		require.Equal(t, c.status, status, "%s: %s%s", c.args, stdout, stderr)
		require.Contains(t, strings.Join(strings.Fields(stdout+stderr), " "), c.says, c.args)
	}
}

func TestWhatWasDecidedIsDrawn(t *testing.T) {
	files := map[string]string{"bad.edn": illegal, "good.edn": legal}
	status, _, stderr := checked(t, files, "--drawings", "pictures", "bad.edn")
	require.Equal(t, record.StatusBroken, status, stderr)
	picture, err := os.ReadFile("pictures/linearizable.html")
	require.NoError(t, err)
	require.Contains(t, string(picture), "the last order", "where it ended")
	status, _, stderr = checked(t, files, "--drawings", "pictures", "bad.edn", "good.edn")
	require.Equal(t, record.StatusUsage, status)
	require.Contains(t, stderr, "hint: name one file to check")
}
