package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"recount/internal/hint"
	"recount/targets/specfile"
	"recount/targets/specfile/draft"
)

// answerWithin is how long an answer is waited for.
const answerWithin = 10 * time.Second

// answersFrom gets answers of servers by their URLs, out of files, or from in where one is called "-".
func answersFrom(ctx context.Context, from []string, in io.Reader) (all []draft.Answer, err error) {
	for _, name := range from {
		var a draft.Answer
		u, bad := url.Parse(name)
		switch {
		case bad == nil && (u.Scheme == "http" || u.Scheme == "https"):
			a, err = ask(ctx, u)
		case strings.Contains(name, "://"):
			err = hint.Add(fmt.Errorf("--from %s: no URL of http or https", name), "--from http://localhost:8080/status, or a file with an answer in it")
		default:
			a, err = answerIn(name, in)
		}
		if err != nil {
			return nil, err
		}
		if len(strings.TrimSpace(string(a.Text))) == 0 {
			return nil, fmt.Errorf("%s: the answer is empty", a.From)
		}
		all = append(all, a)
	}
	return all, nil
}

// ask asks a server who leads.
func ask(ctx context.Context, u *url.URL) (a draft.Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, // as it is observed later
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return a, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return a, failure{hint.Add(err, "start the server, or save an answer of it in a file: --from answer.json")}
	}
	defer resp.Body.Close()
	refused := fmt.Errorf("GET %s answered %s", u.Redacted(), resp.Status)
	switch status := resp.StatusCode; {
	case status/100 == 3:
		return a, hint.Add(fmt.Errorf("%w to %s", refused, resp.Header.Get("Location")), specfile.NotFollowed)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return a, hint.Add(refused, "save an answer, as curl -H 'Authorization: …' prints it, and take that: --from answer.json; in the file, observe has headers for it")
	case status/100 == 4:
		return a, hint.Add(refused, "name the path at which a node tells its role")
	}
	return answer(u.Redacted(), resp.Body, draft.Answer{URL: u, Status: resp.StatusCode})
}

// answerIn reads an answer that was saved.
func answerIn(name string, in io.Reader) (a draft.Answer, err error) {
	if name == "-" {
		return answer("standard input", in, a)
	}
	f, err := os.Open(name)
	if err != nil {
		return a, hint.Add(fmt.Errorf("--from: %w", err), "--from names a URL that a node answers, http://localhost:8080/status, or a file with an answer in it")
	}
	defer f.Close()
	return answer(name, f, a)
}

func answer(from string, r io.Reader, a draft.Answer) (draft.Answer, error) {
	text, err := specfile.ReadAnswer(r)
	if err != nil {
		return a, fmt.Errorf("%s: %w", from, err)
	}
	a.From, a.Text = from, text
	return a, nil
}
