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
	"recount/targets/specfile/member"
)

func init() { register(initCommand, exampleCommand) }

func initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a spec file to begin with: your own election, described in YAML",
		Long: `Write a spec file to begin with (default election.yaml): your own election, described in YAML. Every field is explained in it.
As it stands it describes a small HTTP election that this program has inside, so that it can be tried before it is changed.`,
		Example: `  recount init
  recount init mine.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := "election.yaml"
			if len(args) == 1 {
				file = args[0]
			}
			if !targets.IsFile(file) {
				return hint.Add(fmt.Errorf("%s does not end in .yaml", file), "a target whose name does is a spec file: %s.yaml", file)
			}
			text, err := specTemplate(file)
			if err != nil {
				return failure{err}
			}
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
			fmt.Fprintf(cmd.OutOrStdout(), "%s is written; what Recount sees of it: recount validate %s\n", file, record.Quote(file))
			return nil
		},
	}
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
