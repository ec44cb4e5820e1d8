package serve

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
)

// The pages in a real browser. go test ./serve -shots DIR keeps a picture of each, in light and dark, wide and narrow.
var shots = flag.String("shots", "", "folder for pictures of the pages")

// browser is a page of a Chromium, and what it complained about.
type browser struct {
	context.Context
	t    *testing.T
	site string

	mu         sync.Mutex
	complaints []string
}

// browse starts a Chromium for a site. Without one the test is skipped, and fails where CI is set.
func browse(t *testing.T, site string) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no Chromium: apt-get install chromium")
		}
		t.Skip("there is no Chromium: apt-get install chromium")
	}
	own, err := os.MkdirTemp("", "recount-browser") // what a browser that is ended leaves there goes with it
	require.NoError(t, err)
	t.Cleanup(func() { // last, when its processes are ending
		assert.Eventually(t, func() bool { return os.RemoveAll(own) == nil }, time.Minute, 50*time.Millisecond)
	})
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(time.Minute),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1400, 1000), chromedp.Env("TMPDIR="+own), chromedp.UserDataDir(filepath.Join(own, "profile")))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	ctx, enough := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(enough)
	b := &browser{Context: ctx, t: t, site: site}
	chromedp.ListenTarget(ctx, b.listen)
	require.NoError(t, chromedp.Run(ctx, network.Enable(), log.Enable(), runtime.Enable()))
	return b
}

// listen takes note of what no page may do.
func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	complain := func(format string, args ...any) { b.complaints = append(b.complaints, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		complain("exception: %v", e.ExceptionDetails)
	case *runtime.EventConsoleAPICalled:
		complain("console: %s %v", e.Type, e.Args)
	case *log.EventEntryAdded:
		complain("log: %s %s", e.Entry.Text, e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, b.site+"/") && !strings.HasPrefix(u, "data:") {
			complain("asks %s", u)
		}
	case *page.EventJavascriptDialogOpening:
		complain("dialog: %s", e.Message)
	}
}

func (b *browser) run(actions ...chromedp.Action) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Run(b, actions...))
}

// open opens a page and checks what holds of every page.
func (b *browser) open(path string) {
	b.t.Helper()
	b.run(chromedp.Navigate(b.site+path), chromedp.WaitVisible("#content"))
	b.check(path)
}

func (b *browser) check(path string) {
	b.t.Helper()
	var title string
	var wrong []string
	b.run(chromedp.Title(&title), chromedp.Evaluate(rules, &wrong))
	assert.Empty(b.t, wrong, path)
	require.NotEqual(b.t, "owned", title)
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Empty(b.t, b.complaints, path)
}

// until waits for an expression to be true. While a page gives way to another there is nobody to ask.
func (b *browser) until(expression string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		return chromedp.Run(b, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(5*time.Second))) == nil
	}, time.Minute, 50*time.Millisecond, expression)
}

// click clicks on something once it can be clicked on. The page is told what is clicked on, and not where: a place that was asked for
// may be another's when the click comes, if the page is being laid out anew.
func (b *browser) click(selector string) {
	b.t.Helper()
	element := fmt.Sprintf("document.querySelector(%q)", selector)
	b.until(`(e => {
		if (!e || e.disabled) return false;
		e.scrollIntoView({block: 'center', behavior: 'instant'});
		const box = e.getBoundingClientRect();
		return e.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
	})(` + element + `)`)
	b.run(chromedp.Evaluate(element+".dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))", nil))
}

func (b *browser) text(selector string) (text string) {
	b.t.Helper()
	b.run(chromedp.Text(selector, &text))
	return text
}

// shoot keeps pictures of the page, if they are asked for.
func (b *browser) shoot(name string) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1400, 400, 2000} {
			b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				emulation.SetDeviceMetricsOverride(width, 900, 1, false), chromedp.Sleep(100*time.Millisecond))
			b.check(name + " " + scheme)
			if *shots == "" {
				continue
			}
			var png []byte
			b.run(chromedp.FullScreenshot(&png, 100))
			require.NoError(b.t, os.MkdirAll(*shots, 0o755))
			require.NoError(b.t, os.WriteFile(filepath.Join(*shots, fmt.Sprintf("%s-%s-%d.png", name, scheme, width)), png, 0o644))
		}
	}
	b.run(emulation.SetDeviceMetricsOverride(1400, 900, 1, false))
}

func TestPagesInABrowser(t *testing.T) {
	results := t.TempDir()
	r := simulate(t, results, "ping-pong", 7)
	simulate(t, results, "dead-leader", 3)
	spoil(t, r, results)
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	at := "/runs/" + id(t, results, r) + "/"

	b.open("/")
	require.Contains(t, b.text("main"), "no-ping-pong")
	b.shoot("findings")
	b.open("/runs")
	b.shoot("runs")
	b.open("/?target=" + url.QueryEscape("blazingmq-term") + "&property=no-ping-pong")
	require.NotContains(t, b.text(".findings"), "elects")

	b.open(at)
	b.run(chromedp.ScrollIntoView("#all"))
	b.until(`document.querySelectorAll('#all-rows tr').length === 200`)
	b.click("#all-on")
	b.until(`document.querySelector('#all-rows td').textContent === '200'`)
	b.run(chromedp.SendKeys(`#all-filter [name=text]`, "cut-link"))
	b.until(`document.querySelectorAll('#all-rows tr').length === 4`)
	b.shoot("run")

	b.open(at)
	b.run(chromedp.ScrollIntoView("#all"), chromedp.KeyEvent("n"))
	b.until(`document.getElementById('timeline').getBoundingClientRect().top > -10`)

	b.open(at + "live")
	b.until(`document.getElementById('status').textContent.startsWith('over: held')`)
	b.until(`document.querySelectorAll('.node.leader').length === 1`)
	b.run(chromedp.Focus("#picture"), chromedp.KeyEvent(","))
	b.until(`document.getElementById('status').textContent.includes(' of 30')`)
	require.Contains(t, b.text("#told"), "leads in term")
	b.run(chromedp.Evaluate(`{const s = document.getElementById('scrub'); s.value = 10000; s.dispatchEvent(new Event('input'))}`, nil))
	b.until(`document.querySelectorAll('.links-now .cut').length === 2`)
	require.Contains(t, b.text("#faults"), "cut-link")
	require.Contains(t, b.text("h1"), "Replay")
	b.run(emulation.SetDeviceMetricsOverride(900, 900, 1, false))
	b.until(`document.querySelector('#picture .pointer').textContent.includes('10.00 s') && document.querySelector('#picture').viewBox.baseVal.width < 900`)
	b.click(`[data-zoom="0.5"]`)
	b.until(`document.querySelector('.brush .frame') !== null`)
	b.until(`document.querySelector('#picture .pointer').textContent.includes('10.00 s')`)
	b.click(`[data-zoom="all"]`)
	b.until(`document.getElementById('leaders').textContent.startsWith('One leader: ') || document.getElementById('leaders').classList.contains('many')`)
	b.run(chromedp.Evaluate(twoLead, nil))
	b.until(`/^Two leaders: n\d \(term \d+\) and n\d \(term \d+\)$/.test(document.getElementById('leaders').textContent)`)
	b.shoot("live")

	b.open(at + "diagram")
	b.until(`document.querySelectorAll('.message').length > 8`)
	first := b.text("#step")
	b.run(chromedp.KeyEvent(kb.ArrowRight))
	require.NotEqual(t, first, b.text("#step"))
	b.until(`document.querySelectorAll('.message.gone').length > 0`)
	b.run(chromedp.Evaluate(`document.querySelector('.message.gone').dispatchEvent(new MouseEvent('click', {bubbles: true}))`, nil)) // a thin line, aslant
	require.Contains(t, b.text("#what"), "cut")
	b.until(`[...document.querySelectorAll('.message.gone .cross')].every(c => [...document.querySelectorAll('#lamport .name')].every(n =>
		Math.abs(n.getBBox().y + n.getBBox().height / 2 - c.getBBox().y - c.getBBox().height / 2) > 20))`) // nobody takes it for another's
	require.Contains(t, b.text("#knew"), "leader")
	b.shoot("diagram")

	for _, p := range []string{"", "live", "diagram?at=0&span=1000"} {
		b.open("/runs/spoilt/20260101-000000.000/" + p)
		b.until(`document.body.textContent.includes('<script>')`)
		b.run(chromedp.Sleep(300 * time.Millisecond)) // for a script to run, if it could
		b.check("spoilt " + p)
	}
}

// What is close together when the whole run is shown is told apart when somebody looks closer.
func TestPointingAtWritesInABrowser(t *testing.T) {
	results := t.TempDir()
	r, err := harness.Run(t.Context(), record.Plan{Target: "raft", On: record.OnSim, Nodes: 3, Time: 20 * time.Second, Seed: 3, Workloads: []string{"record"}},
		harness.Config{Results: results})
	require.NoError(t, err)
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.open("/runs/" + id(t, results, r) + "/")
	var wrong []string
	b.run(chromedp.Evaluate(pointAtWrites, &wrong, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	require.Empty(t, wrong)
}

// pointAtWrites points at each of ten writes, from near and from far, and returns what is told of others.
const pointAtWrites = `(async () => {
const data = JSON.parse(document.getElementById('data').textContent), svg = document.getElementById('picture'), wrong = [];
const row = data.rows.find(r => r.s.length && data.words[r.s[0][2]].includes('writes with'));
let from = 0, to = data.end;
for (const closer of [0, 0, 2, 2]) {
  for (let i = 0; i < closer; i++) {
    document.querySelector('[data-zoom="0.5"]').click();
    [from, to] = [from + (to - from) / 4, to - (to - from) / 4];
  }
  await new Promise(done => setTimeout(done, 100));
  const some = row.s.filter(i => i[0] > from && i[0] < to).slice(0, 10), box = svg.getBoundingClientRect();
  for (const [at, , words] of some) {
    const x = data.left + (at - from) * (svg.viewBox.baseVal.width - data.left - data.gutter) / (to - from);
    svg.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + x, clientY: box.top + row.y + row.h / 2}));
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const told = document.getElementById('tip').textContent;
    if (!told.startsWith(data.words[words]) || !told.includes('\nat ')) wrong.push(at + ' of ' + from + ' to ' + to + ': ' + told);
  }
}
return wrong;
})()`

// twoLead turns to the first instant at which two cards show a leader.
const twoLead = `(async () => {
const s = document.getElementById('scrub');
for (let t = 0; t <= +s.max && document.querySelectorAll('.node.leader').length < 2; t += 50) {
  s.value = t;
  s.dispatchEvent(new Event('input'));
  await new Promise(requestAnimationFrame);
}
})()`

// rules finds what keeps people from using a page: the rules of axe that matter here, written by hand. Contrast is WCAG's: 4.5, or 3 for large
// text.
const rules = `(() => {
const wrong = [];
const say = (e, what) => wrong.push(what + ': ' + e.outerHTML.slice(0, 120));
const visible = e => e.checkVisibility && e.checkVisibility({visibilityProperty: true}) && !e.closest('[aria-hidden=true]');
if (!document.documentElement.lang) wrong.push('no language');
if (!document.title) wrong.push('no title');
if (document.querySelectorAll('main').length !== 1) wrong.push('not one main');
if (document.querySelectorAll('h1').length !== 1) wrong.push('not one h1');
const ids = new Set();
for (const e of document.querySelectorAll('[id]')) { if (ids.has(e.id)) say(e, 'id twice'); ids.add(e.id); }
for (const e of document.querySelectorAll('a[href],button,input,select,[role=img]')) {
  if (!visible(e)) continue;
  const name = (e.getAttribute('aria-label') || e.title || (e.labels && e.labels[0] && e.labels[0].textContent) || e.textContent || '').trim();
  if (!name) say(e, 'no name');
}
for (const e of document.querySelectorAll('img')) if (!e.hasAttribute('alt')) say(e, 'no alt');
for (const e of document.querySelectorAll('input:not([type=hidden]),select,textarea')) {
  if (!e.getAttribute('aria-label') && !e.title && !(e.labels && e.labels.length)) say(e, 'no label');
}
let level = 0;
for (const e of document.querySelectorAll('h1,h2,h3,h4')) {
  if (!visible(e)) continue;
  if (+e.tagName[1] > level + 1) say(e, 'a heading level is left out');
  level = +e.tagName[1];
}
for (const e of document.querySelectorAll('[aria-hidden=true] :is(a[href],button,input,select,[tabindex]), :is(a[href],button,input,select)[aria-hidden=true]')) {
  if (e.tabIndex >= 0) say(e, 'hidden, and reached by Tab');
}
for (const e of document.querySelectorAll('[tabindex]')) if (e.tabIndex > 0) say(e, 'an order of its own');
for (const e of document.querySelectorAll('a a,a button,button a,button button')) say(e, 'within another control');
for (const e of document.querySelectorAll('ul,ol')) for (const c of e.children) if (!/^(LI|SCRIPT|TEMPLATE)$/.test(c.tagName)) say(c, 'in a list, and no item');
for (const e of document.querySelectorAll('dl')) for (const c of e.children) if (!/^(DT|DD|DIV)$/.test(c.tagName)) say(c, 'in a list of terms');
for (const e of document.querySelectorAll('table')) if (e.rows.length && !e.querySelector('th[scope]')) say(e, 'a table without headings');
for (const e of document.querySelectorAll('[aria-labelledby],[aria-describedby],[aria-controls],output[for]')) {
  for (const a of ['aria-labelledby', 'aria-describedby', 'aria-controls', 'for']) for (const id of (e.getAttribute(a) || '').split(' ')) {
    if (id && !document.getElementById(id)) say(e, 'refers to nothing');
  }
}
for (const e of document.querySelectorAll('svg')) if (visible(e) && e.getAttribute('role') === 'img' && !e.getAttribute('aria-label')) say(e, 'a picture without a name');
const sections = new Set();
for (const e of document.querySelectorAll('section[aria-label],nav[aria-label],form[aria-label]')) {
  const key = e.tagName + e.getAttribute('aria-label');
  if (sections.has(key)) say(e, 'named as another');
  sections.add(key);
}
for (const e of document.querySelectorAll('body *')) {
  const s = getComputedStyle(e);
  if (!visible(e) || !/auto|scroll/.test(s.overflowX + s.overflowY) || e.scrollWidth <= e.clientWidth + 1 && e.scrollHeight <= e.clientHeight + 1) continue;
  if (e.tabIndex < 0 && !e.querySelector('a[href],button,input,select,[tabindex="0"]')) say(e, 'scrolls, but not by the keyboard');
}
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
if (wide > 1) wrong.push('wider than the window by ' + wide);
const rgb = c => { const m = c.match(/[\d.]+/g).map(Number), k = c.startsWith('color(srgb') ? 255 : 1; return {r: k * m[0], g: k * m[1], b: k * m[2], a: m.length > 3 ? m[3] : 1}; };
const lum = c => { const f = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(c.r) + 0.7152 * f(c.g) + 0.0722 * f(c.b); };
const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.a > 0.99) return c; } return {r: 255, g: 255, b: 255}; };
const seen = new Set();
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('svg') || !visible(e) || e.disabled || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
  const s = getComputedStyle(e), a = lum(rgb(s.color)), b = lum(ground(e));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const large = parseFloat(s.fontSize) >= 24 || parseFloat(s.fontSize) >= 18.66 && s.fontWeight >= 700;
  const key = e.tagName + e.className + s.color;
  if (ratio < (large ? 3 : 4.5) && !seen.has(key)) { seen.add(key); say(e, 'contrast ' + ratio.toFixed(2)); }
}
return wrong;
})()`
