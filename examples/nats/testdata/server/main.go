// Command server is the server of NATS, as its own main starts it.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/nats-io/nats-server/v2/server"
)

func main() {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, "nats-server:", err)
		os.Exit(1)
	}
	flags := flag.NewFlagSet("nats-server", flag.ExitOnError)
	options, err := server.ConfigureOptions(flags, os.Args[1:], server.PrintServerAndExit, flags.Usage, server.PrintTLSHelpAndDie)
	if err != nil {
		fail(err)
	}
	s, err := server.NewServer(options)
	if err != nil {
		fail(err)
	}
	s.ConfigureLogger()
	if err := server.Run(s); err != nil {
		fail(err)
	}
	s.WaitForShutdown()
}
