package recounttest

import "regexp"

// inGo is what the options of the command line are called here, in the order in which they are looked for.
var inGo = []struct {
	flag *regexp.Regexp
	call string
}{
	{regexp.MustCompile(`--on docker\b`), "recounttest.OnDocker()"},
	{regexp.MustCompile(`--on virtual\b`), "recounttest.OnVirtual()"},
	{regexp.MustCompile(`--nodes (\d+)`), "recounttest.Nodes($1)"},
	{regexp.MustCompile(`--nodes\b`), "recounttest.Nodes"},
	{regexp.MustCompile(`--seed (\d+)`), "recounttest.Seeds($1)"},
	{regexp.MustCompile(`--seed\b`), "recounttest.Seeds"},
	{regexp.MustCompile(`--opt ([\w-]+)=([^\s;,]+)`), `recounttest.Set("$1", "$2")`},
	{regexp.MustCompile(`--opt\b`), "recounttest.Set"},
	{regexp.MustCompile(`--time\b`), "recounttest.For"},
	{regexp.MustCompile(`--nemesis\b`), "recounttest.Faults"},
	{regexp.MustCompile(`--workload\b`), "recounttest.Workloads"},
	{regexp.MustCompile(`--require\b`), "recounttest.Require"},
	{regexp.MustCompile(`--results\b`), "recounttest.Results"},
}

// words says in Go what was said of the command line.
func words(text string) string {
	for _, w := range inGo {
		text = w.flag.ReplaceAllString(text, w.call)
	}
	return text
}
