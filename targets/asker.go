package targets

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"

	"recount/election"
)

// everyAddr is where a server listens to be reached at all of its own addresses.
func everyAddr(own netip.Addr) netip.Addr {
	if own.Is6() {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

// asker asks one server questions over HTTP, whose answers are JSON. It keeps its one connection from one question to
// the next.
type asker struct {
	transport *http.Transport
	header    http.Header // of each question
}

func newAsker(dial election.Dial, port int) *asker {
	return &asker{
		transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, port) },
			MaxIdleConns:       1,
			DisableCompression: true,
		},
		header: http.Header{},
	}
}

// ask gets a path and decodes the answer.
func (a *asker) ask(ctx context.Context, path string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		return err
	}
	req.Header = a.header
	resp, err := a.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body) // to its end, or the connection could not be kept
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s answered %s", path, resp.Status)
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Close ends the connection.
func (a *asker) Close() error {
	a.transport.CloseIdleConnections()
	return nil
}
