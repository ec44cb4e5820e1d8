// Package systems is what drivers of real systems share: asking servers over HTTP, reading the views that mains of ours
// tell, and candidates that elect through a service. Each system has a folder of its own below.
package systems

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"

	"recount/election"
)

// EveryAddr is where a server listens to be reached at all of its own addresses.
func EveryAddr(own netip.Addr) netip.Addr {
	if own.Is6() {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

// Asker asks one server questions over HTTP, whose answers are JSON. It keeps its one connection from one question to
// the next.
type Asker struct {
	transport *http.Transport
	Header    http.Header  // of each question
	long      atomic.Int64 // how long the last answer was
}

// NewAsker asks the server on a port of the node that dial reaches.
func NewAsker(dial election.Dial, port int) *Asker {
	return &Asker{
		transport: &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, port) },
			MaxIdleConns:       1,
			DisableCompression: true,

			MaxResponseHeaderBytes: 1 << 20,
		},
		Header: http.Header{},
	}
}

// Ask gets a path and decodes the answer.
func (a *Asker) Ask(ctx context.Context, path string, answer any) error {
	body, err := a.Get(ctx, path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Get gets a path and returns the answer, as it is.
func (a *Asker) Get(ctx context.Context, path string) ([]byte, error) {
	status, body, err := a.exchange(ctx, http.MethodGet, path, "")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s answered %d %s", path, status, http.StatusText(status))
	}
	return body, err
}

// Post posts a body of JSON to a path, and returns the status and the body of the answer.
func (a *Asker) Post(ctx context.Context, path, body string) (status int, answer []byte, err error) {
	return a.exchange(ctx, http.MethodPost, path, body)
}

func (a *Asker) exchange(ctx context.Context, method, path, body string) (status int, answer []byte, err error) {
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, content)
	if err != nil {
		return 0, nil, err
	}
	req.Header = a.Header
	resp, err := a.transport.RoundTrip(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = ReadAnswer(resp.Body, int(a.long.Load())) // to its end, or the connection could not be kept
	a.long.Store(int64(len(answer)))
	return resp.StatusCode, answer, err
}

// maxAnswer is the longest answer that is read, in bytes.
const maxAnswer = 8 << 20

// ReadAnswer reads to the end, but no more than any answer should be long. It is fastest where the answer is about as long as the
// one before, in bytes, which may be 0 where there was none.
func ReadAnswer(r io.Reader, before int) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, before+before/16+1<<10))
	_, err := b.ReadFrom(io.LimitReader(r, maxAnswer+1))
	if err == nil && b.Len() > maxAnswer {
		err = fmt.Errorf("the answer is longer than %d MiB", maxAnswer>>20)
	}
	return b.Bytes(), err
}

// Close ends the connection.
func (a *Asker) Close() error {
	a.transport.CloseIdleConnections()
	return nil
}
