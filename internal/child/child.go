// Package child runs programs of this machine, such as the go command, that clean up behind themselves when they are interrupted
// and would not if they were killed.
package child

import (
	"context"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// Program is a program to be run. Its name and its arguments are as with exec.Command.
type Program struct {
	Name  string
	Args  []string
	Dir   string
	Env   []string
	Out   io.Writer     // of what it says; nil for nobody
	Grace time.Duration // how long it may take to end once it is interrupted; 0 for ten seconds
}

// Run runs the program until it ends, or until ctx does: the error is the cause of that then.
//
// The program and its children, compilers for one, are a group of their own and are interrupted together: a program that waits for
// its children and then ends leaves none that still writes into its folder. Those that have not ended after the grace are killed.
func (p Program) Run(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.Name, p.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.Dir, p.Env, p.Out, p.Out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	if cmd.WaitDelay = p.Grace; p.Grace == 0 {
		cmd.WaitDelay = 10 * time.Second
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly there is nobody left
		}
		return context.Cause(ctx)
	}
	return err
}
