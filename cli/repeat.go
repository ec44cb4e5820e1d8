package cli

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"recount/harness/record"
)

// repeat is the command that does the same again: as it was given, with the seed that it had.
func repeat(cmd *cobra.Command, args []string, seed uint64) string {
	return commandLine(cmd, args, "seed") + " --seed " + strconv.FormatUint(seed, 10)
}

// commandLine is the command as it was given, without the flags named in but, and without those that do not decide what is
// found: where results go, in which form, and how many runs are made at a time.
func commandLine(cmd *cobra.Command, args []string, but ...string) string {
	but = append(but, "json", "results", "jobs")
	words := strings.Fields(cmd.CommandPath())
	for _, a := range args {
		words = append(words, record.Quote(a))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		pairs, notPairs := cmd.Flags().GetStringToString(f.Name)
		switch {
		case slices.Contains(but, f.Name):
		case f.Name == "opt": // given again for each: a value may hold a comma
			for _, o := range list.GetSlice() {
				words = append(words, "--opt", record.Quote(o))
			}
		case notPairs == nil: // what it calls its value is not what it takes for one
			for _, name := range slices.Sorted(maps.Keys(pairs)) {
				words = append(words, "--"+f.Name, record.Quote(name+"="+pairs[name]))
			}
		case isList:
			words = append(words, "--"+f.Name, record.Quote(strings.Join(list.GetSlice(), ",")))
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name+"="+f.Value.String())
		default:
			words = append(words, "--"+f.Name, record.Quote(f.Value.String()))
		}
	})
	return strings.Join(words, " ")
}
