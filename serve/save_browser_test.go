package serve

import (
	"bytes"
	"image/png"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"recount/report"
)

// download clicks on something and returns the file that comes of it.
func (b *browser) download(dir, selector, name string) (file []byte) {
	b.t.Helper()
	b.click(selector)
	require.Eventually(b.t, func() bool {
		var err error
		file, err = os.ReadFile(filepath.Join(dir, name))
		return err == nil && len(file) > 0
	}, time.Minute, 50*time.Millisecond, name)
	return file
}

func TestPicturesAreSaved(t *testing.T) {
	results, dir := t.TempDir(), t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.run(cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))

	b.open("/runs/" + id(t, results, r) + "/diagram?at=3500&span=400")
	b.until(`document.querySelectorAll('.message').length > 8`)
	svg := string(b.download(dir, ".save button", "ping-pong-message-by-message.svg"))
	require.Contains(t, svg, "<path")
	require.NotContains(t, svg, "class=", "it needs no style sheet")
	require.Regexp(t, `<text[^>]*paint-order="stroke"`, svg, "or what keeps words apart from lines would hide the words")
	b.open("/runs/" + id(t, results, r) + "/")
	picture, err := png.Decode(bytes.NewReader(b.download(dir, "#timeline .save button:last-child", "ping-pong.png")))
	require.NoError(t, err)
	require.Greater(t, picture.Bounds().Dx(), 1000)
	colours := map[any]bool{}
	for y := 0; y < picture.Bounds().Dy(); y += 7 {
		for x := 0; x < picture.Bounds().Dx(); x += 7 {
			colours[picture.At(x, y)] = true
		}
	}
	require.Greater(t, len(colours), 8, "something is drawn")

	b.open("/coverage")
	svg = string(b.download(dir, ".save button", "Coverage.svg"))
	require.Contains(t, svg, ">cut-link</text>", "a table that is a map is a picture, too")
	require.Contains(t, svg, "rotate(-90)")
}

func TestLargeRunsShowTheirPictureFirst(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	require.NoError(t, report.Write(r))
	file := filepath.Join(r.Dir, "history.jsonl")
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = f.WriteString(strings.Repeat("\n", 17<<20)) // empty lines say nothing, and take room
	require.NoError(t, err)
	require.NoError(t, f.Close())
	_, h := open(t, Config{Results: results})
	at := "/runs/" + id(t, results, r) + "/"
	first := get(h, at+"?at=3s").Body.String()
	require.Contains(t, first, `src="timeline.svg"`)
	require.Contains(t, first, `content="0;url=?at=3s&amp;whole="`)
	require.Contains(t, get(h, at+"?whole=").Body.String(), `id="picture"`)
	require.Contains(t, get(h, at).Body.String(), `id="picture"`, "what was read is there at once")

	_, h = open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.run(chromedp.Navigate(site.URL+at+"?at="+url.QueryEscape("3s")), chromedp.WaitVisible("#picture"))
	b.until(`document.getElementById('found') !== null`)
	b.check("a large run")
}
