// Package cli is the command line of Recount. A program that registers elections of its own and calls [Main] is a Recount
// that knows these as well:
//
//	package main
//
//	import (
//		"recount/cli"
//
//		_ "example.com/mine/election" // calls targets.Register
//	)
//
//	func main() { cli.Main() }
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"recount/docker/entrypoint"
	"recount/harness"
	"recount/harness/record"
	"recount/internal/hint"
	"recount/internal/term"
)

// Main runs the command that the program's arguments name and ends the program with its status. It is also what runs
// inside of the containers that the program starts, so it comes first in main; the program must be linked statically
// (CGO_ENABLED=0) for that.
func Main() {
	// A crash of Go's is status 2, which says "unknown" here. Where it cannot be caught, in a goroutine of its own, it
	// ends the program by SIGABRT instead.
	debug.SetTraceback("crash")
	os.Exit(guarded(func() int { return run(os.Args[1:], os.Stdout, os.Stderr) }, os.Stderr))
}

// guarded returns the status that program ends with: StatusFailed if it panics, with the stack on stderr.
func guarded(program func() int, stderr io.Writer) (status int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "recount: crashed: %v\n%s", p, debug.Stack())
			fmt.Fprintln(stderr, "recount: hint: this is a bug in Recount and says nothing about the election; what the run recorded is kept")
			status = record.StatusFailed
		}
	}()
	return program()
}

// run is the whole program. Results go to stdout; everything else goes to stderr, prefixed.
func run(args []string, stdout, stderr io.Writer) (status int) {
	harness.KeepWithin()
	ctx, stop := signal.NotifyContext(context.Background(), ends()...)
	defer stop()
	// A second Ctrl-C ends the program at once. What comes together with the first is the same one: timeout(1) signals the
	// program and then its group, and the program has to clean up.
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, stop) })
	ctx, unread := context.WithCancel(ctx)
	defer unread()
	stdout, stderr = outliving(stdout, unread), outliving(stderr, unread)
	if underGitHub() {
		out, errors := &tamed{to: stdout}, &tamed{to: stderr}
		defer out.end()
		defer errors.end()
		stdout, stderr = out, errors
	}
	root := rootCommand()
	root.SetArgs(unhelped(root, args))
	root.SetOut(stdout)
	root.SetErr(stderr)
	return ended(ctx, root.ExecuteContext(ctx), stderr)
}

// ends are the signals that end the program once it has cleaned up. That the terminal is gone is none to who was started to outlive it,
// as by nohup.
func ends() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// unhelped leaves out --help after a command that there is not, so that it is told instead of helped with.
func unhelped(root *cobra.Command, args []string) []string {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	c, rest, err := root.Find(args)
	if err != nil || c != root || len(rest) == 0 || strings.HasPrefix(rest[0], "-") || strings.HasPrefix(rest[0], cobra.ShellCompRequestCmd) {
		return args
	}
	return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--help" || a == "-h" })
}

// ended says what became of a command, and returns the status that the program ends with for it.
func ended(ctx context.Context, err error, stderr io.Writer) int {
	var verdict verdictError
	switch {
	case err == nil:
		return record.StatusHeld
	case errors.As(err, &verdict):
		return int(verdict)
	case ctx.Err() != nil && errors.Is(err, context.Canceled): // by who called it, before there was anything to judge
		complain(stderr, errors.New(interrupted(err))) // without a way out of it: none is wanted
		return record.StatusUnknown
	}
	complain(stderr, err)
	return statusOf(err)
}

// interrupted says what was under way when somebody interrupted it.
func interrupted(err error) string {
	doing := strings.TrimSuffix(strings.ReplaceAll(err.Error(), ": "+context.Canceled.Error(), ""), context.Canceled.Error())
	if doing == "" {
		return "interrupted"
	}
	return "interrupted: " + doing
}

// statusOf is what the program exits with for an error that is no verdict.
func statusOf(err error) int {
	var failed failure
	if errors.As(err, &failed) && !harness.IsUsage(err) {
		return record.StatusFailed
	}
	return record.StatusUsage
}

// complain prints an error, and the way out of it. Errors that came together stand in one line; what one quotes, indented, has lines of its own.
func complain(stderr io.Writer, err error) {
	const quoted = "\n  "
	parts := strings.Split(err.Error(), quoted)
	for i, part := range parts {
		parts[i] = term.Printable(strings.ReplaceAll(part, "\n", "; "))
	}
	fmt.Fprintf(stderr, "recount: %s\n", strings.Join(parts, quoted))
	h := hint.Of(err)
	if h == "" && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)) {
		h = "make room, or have it written to another disk"
	}
	if h != "" {
		fmt.Fprintf(stderr, "recount: hint: %s\n", term.Printable(h))
	}
}

// verdictError carries the status of a run that was judged. It is no failure, and nothing is printed for it.
type verdictError int

func (v verdictError) Error() string { return fmt.Sprintf("status %d", int(v)) }

// verdict turns a run's status into what a command returns.
func verdict(status int) error {
	if status == record.StatusHeld {
		return nil
	}
	return verdictError(status)
}

// despite is verdict of what was found, though something failed after that: what broke is broken, and is told so.
func despite(cmd *cobra.Command, status int, failed error) error {
	switch {
	case failed == nil:
		return verdict(status)
	case status == record.StatusBroken:
		complain(cmd.ErrOrStderr(), failed)
		return verdict(status)
	}
	return failure{failed}
}

// failure marks an error that is not the caller's mistake. All that a command returns unmarked is usage.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// commands make the commands of the program, one file each.
var commands []func() *cobra.Command

// register adds commands; each file of a command calls it from init.
func register(made ...func() *cobra.Command) { commands = append(commands, made...) }

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "recount",
		Short: "Break leader elections and judge whether they kept their promises",
		Long: `Recount starts an election, breaks it (partitions, one-way links, crashes, pauses), records who claimed to lead in
which term, and judges from that history whether the election kept its promises.

Exit status: 0 every promise held; 1 a promise broke; 2 unknown; 254 usage; 255 the harness or the engine failed.`,
		Example: `  recount run ping-pong                # simulated: nothing to install, a report in a second
  recount run ping-pong --on docker    # the same scenario on real containers
  recount run --target raft --nemesis all --seed 7`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       harness.Version,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	for _, command := range commands {
		root.AddCommand(command())
	}
	root.AddCommand(entrypoint.Commands(func(err error) error { return failure{err} })...)
	for _, c := range root.Commands() {
		c.SetHelpCommand(nil)
	}
	guide(root)
	return root
}

// say returns a function that prints progress to stderr.
func say(cmd *cobra.Command) func(string) {
	return func(line string) { fmt.Fprintf(cmd.ErrOrStderr(), "recount: %s\n", term.Printable(line)) }
}
