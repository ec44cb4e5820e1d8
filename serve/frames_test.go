package serve

import (
	"context"
	"flag"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"recount/harness"
	"recount/harness/record"
)

// How smooth a replay is depends on the machine, so it is measured when somebody asks: go test ./serve -run Frames -frames -v
var frames = flag.Bool("frames", false, "measure how smoothly a run of 7 nodes is played again")

func TestFramesOfAReplay(t *testing.T) {
	if !*frames {
		t.Skip("a measurement: -frames makes it")
	}
	results := t.TempDir()
	r, err := harness.Run(context.Background(), record.Plan{Target: "raft", On: record.OnSim, Nodes: 7, Time: time.Minute, Faults: []string{"isolate", "cut-link", "pause"}, Seed: 5},
		harness.Config{Results: results, Repeat: "recount run"})
	require.NoError(t, err)
	_, h := open(t, Config{Results: results})
	site := httptest.NewServer(h)
	t.Cleanup(site.Close)
	b := browse(t, site.URL)
	b.open("/runs/" + id(t, results, r) + "/live")
	b.until(`document.getElementById('status').textContent.startsWith('over')`)
	b.click("#play")
	var got struct{ Frames, PerSecond, P50, P99, Busy float64 }
	b.run(chromedp.Evaluate(`new Promise(done => {
		const gaps = [], begun = performance.now();
		let last = begun, busy = 0;
		const frame = now => {
			gaps.push(now - last);
			last = now;
			const at = performance.now(); // what the page does in its own frame comes before or after; a message comes after both
			const c = new MessageChannel();
			c.port1.onmessage = () => { busy += performance.now() - at; if (now - begun < 10000) requestAnimationFrame(frame); else {
				gaps.sort((a, b) => a - b);
				done({Frames: gaps.length, PerSecond: 1000 * gaps.length / (now - begun), P50: gaps[gaps.length >> 1], P99: gaps[Math.floor(gaps.length * 0.99)], Busy: busy / gaps.length});
			} };
			c.port2.postMessage(0);
		};
		requestAnimationFrame(frame);
	})`, &got, chromedp.EvalAsValue, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	t.Logf("%.0f frames, %.1f a second; from frame to frame %.1f ms in half of them, %.1f ms in 99 of 100; %.2f ms of work each", got.Frames, got.PerSecond, got.P50, got.P99, got.Busy)
}
