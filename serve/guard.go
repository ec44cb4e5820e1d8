package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"strings"
)

// Who is let in, and what browsers may do with what they get.

// policy lets a page load what this server has, and nothing else: no script of its own, no other host.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// sandbox is for files that come with a run: pages among them are shown with an origin of their own, and reach nobody.
const sandbox = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// tokenCookie keeps the digest of the token of a browser that brought it once: a token may have characters that no cookie may.
const tokenCookie = "recount-token"

func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			s.fail(w, r, http.StatusMethodNotAllowed, "Nothing can be changed here.")
		case s.Token == "" && !ofThisMachine(r.Host):
			// A page of another host could have its name resolved to this machine, and read what is served here.
			s.fail(w, r, http.StatusForbidden, "This server answers to localhost and loopback addresses only; start it with --token to use another name.")
		case s.Token != "" && !s.admits(w, r):
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// ofThisMachine reports whether a Host header names this machine in a way that no resolver decides.
func ofThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// admits reports whether a request brings the token; otherwise it has answered it. A token in the URL moves into a cookie, so that
// it does not stay in the address bar.
func (s *Server) admits(w http.ResponseWriter, r *http.Request) bool {
	same := func(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
	sum := sha256.Sum256([]byte(s.Token))
	digest := hex.EncodeToString(sum[:])
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && same(bearer, s.Token) {
		return true
	}
	if c, err := r.Cookie(tokenCookie); err == nil && same(c.Value, digest) {
		return true
	}
	query := r.URL.Query()
	if same(query.Get("token"), s.Token) {
		query.Del("token")
		to := *r.URL
		to.Scheme, to.Host, to.Path, to.RawPath, to.RawQuery = "", "", "/"+strings.TrimLeft(to.Path, "/"), "", query.Encode()
		// Lax, so that a link from elsewhere brings it: to follow one changes nothing here.
		http.SetCookie(w, &http.Cookie{Name: tokenCookie, Value: digest, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
		return false
	}
	s.fail(w, r, http.StatusUnauthorized, "The token is missing: open the address that recount serve has printed, or send it as a bearer.")
	return false
}
