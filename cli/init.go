package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"recount/harness/record"
	"recount/internal/hint"
	"recount/targets"
	"recount/targets/specfile"
	"recount/targets/specfile/draft"
	"recount/targets/specfile/member"
)

func init() { register(initCommand, exampleCommand) }

func initCommand() *cobra.Command {
	var from []string
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a spec file to begin with: your own election, described in YAML",
		Long: `Write a spec file to begin with (default election.yaml): your own election, described in YAML. Every field is explained in it.
As it stands it describes a small HTTP election that this program has inside, so that it can be tried before it is changed.

With --from it is written from what your server answers instead, at a URL, in a file, or on standard input (-): JSON, metrics of
Prometheus, or lines of NAME: VALUE. What in it tells role, term and leader is guessed by names and values, and is printed. Answers of
several nodes, of a leader and of a follower, tell more than one. The log of a node that has led may stand beside them, or alone. What
nobody has told is marked CHANGE.`,
		Example: `  recount init
  recount init mine.yaml
  recount init mine.yaml --from http://localhost:8080/status --from http://localhost:8081/status
  mycli status | recount init mine.yaml --from -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := "election.yaml"
			if len(args) == 1 {
				file = args[0]
			}
			if !targets.IsFile(file) {
				return hint.Add(fmt.Errorf("%s does not end in .yaml", file), "a target whose name does is a spec file: %s.yaml", file)
			}
			if len(from) > 0 {
				return draftSpec(cmd, file, from)
			}
			text, err := specTemplate(file)
			if err != nil {
				return failure{err}
			}
			if err := writeSpec(file, text); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is written; what Recount sees of it: recount validate %s\n", file, record.Quote(file))
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&from, "from", nil, "a `URL` that a node answers, or a file with an answer, or a log, in it; may be given again")
	return cmd
}

// writeSpec writes a spec file where there is none.
func writeSpec(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return hint.Add(fmt.Errorf("%s is there already", file), "recount init OTHER.yaml")
	}
	if err != nil {
		return hint.Add(err, "name a file in a folder that is there and can be written")
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return failure{err}
	}
	return nil
}

// draftSpec writes a spec file from answers, and says what was read out of them and what to do next.
func draftSpec(cmd *cobra.Command, file string, from []string) error {
	answers, err := answersFrom(cmd.Context(), from, cmd.InOrStdin())
	if err != nil {
		return err
	}
	d, err := draft.New(file, answers)
	if err != nil {
		return err
	}
	if err := writeSpec(file, d.Text); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	for _, f := range d.Found {
		fmt.Fprintf(out, "%-7s %s: %s\n", f.Name, f.Field, f.Values)
	}
	fmt.Fprintf(out, "%s is written. Change what has CHANGE beside it; what Recount sees of it then: recount validate %s\n", file, record.Quote(file))
	return nil
}

// specTemplate is a spec of the election that this program has inside.
func specTemplate(file string) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "linux" {
		self += "-linux-" + runtime.GOARCH
	}
	return specfile.Template(file, self)
}

// exampleCommand is the election that recount init describes.
func exampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "example",
		Short:              "Be a member of a small HTTP election",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			log.SetOutput(cmd.ErrOrStderr())
			if err := member.Main(args); err != nil {
				return failure{err}
			}
			return nil
		},
	}
}
