package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"recount/harness"
	"recount/internal/count"
	"recount/internal/hint"
	"recount/serve"
)

func init() { register(serveCommand) }

func serveCommand() *cobra.Command {
	var results, listen, token string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show results in a browser, runs under way too",
		Long: `Show a folder of results in a browser: what was found, every run with its timeline and its ops, and runs while they
happen. It reads, and never writes. docs/serve.md describes the pages and the JSON API.`,
		Example: `  recount serve
  recount serve --results /var/lib/recount --listen 0.0.0.0:8080 --token s3cret
  recount serve --results 's3://bucket?prefix=results/&region=eu-west-1'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !loopback(listen) && token == "" {
				return harness.Usage(hint.Add(fmt.Errorf("--listen %s is open to other machines", listen), "--token SECRET lets in those who know it"))
			}
			s, err := serve.New(serve.Config{Results: results, Token: token})
			if err != nil {
				return harness.Usage(err)
			}
			defer s.Close()
			harness.LimitMemory(memory)
			l, err := net.Listen("tcp", listen)
			if err != nil {
				return hint.Add(fmt.Errorf("listen on %s: %w", listen, err), "--listen 127.0.0.1:0 takes a free port")
			}
			say(cmd)(fmt.Sprintf("%s of %s; Ctrl-C ends", count.Of(s.Len(), "run"), results))
			fmt.Fprintln(cmd.OutOrStdout(), address(l, token))
			return answerUntil(cmd.Context(), l, s.Handler())
		},
	}
	f := cmd.Flags()
	f.StringVar(&results, "results", "results", "folder to show, or s3://bucket?prefix=…")
	f.StringVar(&listen, "listen", "127.0.0.1:8080", "address and port to listen on")
	f.StringVar(&token, "token", "", "what a browser must bring; needed to listen to other machines")
	return cmd
}

// memory is from how much on memory is given back eagerly, in bytes: a history of a million ops takes half of it.
const memory = 400 << 20

// loopback reports whether nobody but this machine reaches an address.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return true // listening will tell what is wrong
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// address is what to open.
func address(l net.Listener, token string) string {
	u := url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"}
	if token != "" {
		u.RawQuery = url.Values{"token": {token}}.Encode()
	}
	return u.String()
}

// answerUntil serves until ctx ends, and then until what is under way has ended, for two seconds at most.
func answerUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx }, // so that who follows a run is let go
	}
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if srv.Shutdown(end) != nil {
			srv.Close()
		}
	})
	err := srv.Serve(l)
	if !stop() {
		<-closed // Serve returns as soon as the server begins to close
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return failure{err}
	}
	return nil
}
