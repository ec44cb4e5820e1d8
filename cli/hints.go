package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"recount/internal/hint"
)

// kinds are what the values of flags are called, where it is not what Go calls them.
var kinds = map[string]string{"int": "whole number", "uint64": "whole number of 0 or more, and less than 2^64"}

// elsewhere are flags of some commands by what others call the like: those of a matrix draw from one fault after the other.
var elsewhere = map[string]string{"nemesis": "faults", "faults": "nemesis"}

// guide gives the errors of the command line itself a way out.
func guide(root *cobra.Command) {
	root.Args, root.RunE = cobra.ArbitraryArgs, unknown("command")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return errors.Join(filled(cmd), housed(cmd)) }
	helped(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var none *pflag.NotExistError
		var invalid *pflag.InvalidValueError
		switch {
		case errors.As(err, &none) && !cmd.HasParent() && cmd.Flags().NArg() > 0: // a flag of the command that was meant
			return unknown("command")(cmd, cmd.Flags().Args())
		case errors.As(err, &none):
			var known []string
			cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
			if other := elsewhere[none.GetSpecifiedName()]; cmd.Flags().Lookup(other) != nil {
				return hint.Add(err, "did you mean %q?", "--"+other)
			}
			if near := hint.Of(hint.Unknown("flag", none.GetSpecifiedName(), known)); strings.HasPrefix(near, "did you") {
				return hint.Add(err, "%s", strings.Replace(near, `"`, `"--`, 1))
			}
		case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "duration":
			return hint.Add(fmt.Errorf("--%s %q is no duration", invalid.GetFlag().Name, invalid.GetValue()), "with a unit: 500ms, 30s, 5m")
		case errors.As(err, &invalid):
			kind := invalid.GetFlag().Value.Type()
			err = fmt.Errorf("--%s %q is no %s", invalid.GetFlag().Name, invalid.GetValue(), cmp.Or(kinds[kind], kind))
		}
		return hint.Add(err, "%s --help lists the flags", cmd.CommandPath())
	})
	all := slices.Clone(root.Commands())
	for i := 0; i < len(all); i++ {
		c := all[i]
		if all = append(all, c.Commands()...); c.Args == nil {
			continue
		}
		args := c.Args
		c.Args = func(cmd *cobra.Command, given []string) error {
			if err := args(cmd, given); err != nil {
				if hint.Of(err) != "" {
					return err
				}
				if cmd.Flags().Lookup("target") != nil && len(given) > 0 && strings.HasSuffix(given[0], ".yaml") {
					return hint.Add(err, "if that is the election: --target %s", given[0])
				}
				return hint.Add(err, "%s --help shows how it is used", cmd.CommandPath())
			}
			return nil
		}
	}
}

// filled refuses a list that is empty, as of a variable that nobody has set: it would ask for less than it seems to.
func filled(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok && len(list.GetSlice()) == 0 && err == nil {
			err = hint.Add(fmt.Errorf("--%s names nothing", f.Name), "leave it out, or name %s", f.Usage)
		}
	})
	return err
}

// written are the flags that say where something is to be written, and what that is to be.
var written = []struct {
	flag, word string
	folder     bool
}{{"results", "DIR", true}, {"drawings", "DIR", true}, {"edn", "FILE", false}}

// housed refuses to write where nothing can be: in the place of something else, or below a file.
func housed(cmd *cobra.Command) error {
	for _, w := range written {
		f := cmd.Flags().Lookup(w.flag)
		if f == nil || f.Value.String() == "" {
			continue
		}
		info, err := os.Stat(f.Value.String())
		switch {
		case errors.Is(err, syscall.ENOTDIR):
			err = errors.New("it lies below what is no folder")
		case err != nil: // it is to be made, or whoever makes it says what is wrong
			continue
		case w.folder && !info.IsDir():
			err = errors.New("it is no folder")
		case !w.folder && !info.Mode().IsRegular(): // a device would be replaced
			err = errors.New("it is no file")
		default:
			continue
		}
		return hint.Add(fmt.Errorf("--%s %s: %w", w.flag, f.Value, err), "--%s %s names another place", w.flag, w.word)
	}
	return nil
}

// helped has help refuse a command that there is not in the words that it is refused with elsewhere.
func helped(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		panic(err) // it was added just now
	}
	show := help.Run
	help.Run, help.RunE = nil, func(cmd *cobra.Command, args []string) error {
		what := "command"
		c, rest, err := root.Find(args)
		switch {
		case err != nil:
			return err
		case !c.HasSubCommands() || len(rest) == 0:
			show(cmd, args)
			return nil
		case c != root:
			what += " of " + c.Name()
		}
		return unknown(what)(c, rest)
	}
}

// unknown is what a command does that only has others below it, which are called what: it shows its help, or says that there is no such
// command, and which may be meant.
func unknown(what string) func(cmd *cobra.Command, args []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var known []string
		for _, c := range cmd.Commands() {
			if !c.Hidden {
				known = append(known, c.Name())
			}
		}
		return hint.Unknown(what, args[0], known)
	}
}

// one is for commands that take one word, and says what it is where there is none.
func one(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
		if len(args) == 0 {
			return hint.Add(fmt.Errorf("which %s?", what), "for example: %s", example)
		}
		return hint.Add(fmt.Errorf("%d words, where one %s is wanted", len(args), what), "for example: %s", example)
	}
}
