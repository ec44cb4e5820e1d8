//go:build linux

package agent

import (
	"errors"
	"fmt"
	"math"
	"time"

	"recount/history"
)

// Whether a link does to packets what it should: which datagrams to send along it, and what to think of their fate.

const (
	probeSize  = 64                     // bytes of an IP packet
	probeSpan  = 400 * time.Millisecond // how long a probe of a bad link takes, but for its delays
	probeMost  = 150                    // datagrams
	probeLeast = 4
	probeQuiet = 10 * time.Millisecond  // how long nothing may arrive on a cut link; on a whole one it takes some 0.1 ms
	probeSlack = 250 * time.Millisecond // by which a busy machine may be late
	burstSpan  = 100 * time.Millisecond // how long a link of limited rate is kept busy
)

// errTooSlow is what is said of a link that carries too little for a probe.
var errTooSlow = errors.New("it carries too little to be probed")

// probesFor are the probes that show whether packets suffer that state, with the second only where rates are limited.
func probesFor(s history.LinkState, within time.Duration) (probes []probe, err error) {
	s.Reset, s.Picked = false, false // datagrams do not feel it, and probes are no messages
	switch {
	case s.Cut || s.Loss >= 1:
		return []probe{{count: 5, every: probeQuiet / 5, size: probeSize, wait: probeQuiet}}, nil
	case s == history.LinkState{}:
		const every = 2 * time.Millisecond
		return []probe{{count: int(within / every), every: every, size: probeSize, first: true}}, nil
	}
	every := time.Millisecond
	if s.Rate > 0 {
		every = max(every, 2*onWire(probeSize, s.Rate)) // half of it is left to those whom it belongs to
	}
	count := min(probeMost, max(probeLeast, int(probeSpan/every)))
	if time.Duration(count)*every > 10*probeSpan {
		return nil, errTooSlow
	}
	wait := s.Delay + s.Jitter + probeSlack
	if s.Rate > 0 {
		wait += history.Buffer
	}
	probes = []probe{{count: count, every: every, size: probeSize, wait: wait}}
	if s.Rate > 0 {
		bytes := float64(s.Rate) / 8 * burstSpan.Seconds()
		size := min(1200, max(probeSize, int(bytes/5)))
		probes = append(probes, probe{count: min(100, max(3, int(bytes)/size)), size: size, wait: wait})
	}
	return probes, nil
}

// onWire is how long a packet of that size takes at a rate.
func onWire(size int, rate int64) time.Duration {
	return time.Duration(float64(8*size) / float64(rate) * float64(time.Second))
}

// judge says what is wrong with what became of a probe's datagrams, on a link of that state; "" is nothing.
func judge(s history.LinkState, p probe, got sample) string {
	switch {
	case s.Cut && got.arrived > 0:
		return "is cut, yet a probe arrived"
	case s.Loss >= 1 && got.arrived > 0:
		return "loses everything, yet a probe arrived"
	case s.Cut || s.Loss >= 1:
		return ""
	case p.first && got.arrived == 0:
		return fmt.Sprintf("is not cut, yet no probe arrived within %v", time.Duration(p.count)*p.every)
	case p.first:
		return ""
	}
	sent := len(got.sent)
	if p.every == 0 { // a burst
		last := sent
		for last > 0 && got.delays[last-1] == unarrived {
			last--
		}
		if least := time.Duration(last) * onWire(p.size, s.Rate); last > 1 && got.took < least*8/10-s.Jitter {
			return fmt.Sprintf("is to carry %s, yet carried %d packets of %d bytes in %v", bits(s.Rate), last, p.size, got.took)
		}
		return ""
	}
	if lost := sent - got.arrived; implausible(lost, sent, s.Loss, s.Rate > 0) {
		return fmt.Sprintf("is to lose %.4g%%, yet lost %d of %d probes", 100*s.Loss, lost, sent)
	}
	if implausible(got.twice, got.arrived, s.Duplicate, false) {
		return fmt.Sprintf("is to duplicate %.4g%%, yet duplicated %d of %d probes", 100*s.Duplicate, got.twice, got.arrived)
	}
	return judgeDelays(s, got.known())
}

// judgeDelays are given in order of size.
func judgeDelays(s history.LinkState, delays []time.Duration) string {
	const exact = time.Millisecond
	least, most := s.Delay-s.Jitter-exact, s.Delay+s.Jitter+s.Delay/2+probeSlack
	if s.Rate > 0 {
		most += history.Buffer
	}
	early := 0
	for early < len(delays) && delays[early] < least/2 {
		early++
	}
	if least > 4*exact && implausible(early, len(delays), s.Reorder, false) {
		return fmt.Sprintf("is to let %.4g%% overtake, yet %d of %d probes took less than half of %v", 100*s.Reorder, early, len(delays), s.Delay)
	}
	if s.Reorder > 0 {
		delays = delays[early:]
	}
	if len(delays) == 0 {
		return ""
	}
	switch middle := delays[len(delays)/2]; {
	case s.Reorder == 0 && delays[0] < least, middle < least:
		return fmt.Sprintf("is to delay by %v±%v, yet probes took %v and more", s.Delay, s.Jitter, delays[0])
	case middle > most:
		return fmt.Sprintf("is to delay by %v±%v, yet most probes took %v and more", s.Delay, s.Jitter, middle)
	}
	if spread := delays[len(delays)-1] - delays[0]; s.Reorder == 0 && len(delays) >= 20 && s.Jitter >= 5*exact && spread < s.Jitter/4 {
		return fmt.Sprintf("is to delay by %v±%v, yet all probes took %v to %v", s.Delay, s.Jitter, delays[0], delays[len(delays)-1])
	}
	return ""
}

// implausible tells that k of n cannot well be what a chance of p makes of n. A machine that is busy may add to k a
// little, and a link that others use may add anything.
func implausible(k, n int, p float64, more bool) bool {
	const sigmas = 5.5
	mean, off := float64(n)*p, 1.5+sigmas*math.Sqrt(float64(n)*p*(1-p))
	if float64(k) < mean-off {
		return true
	}
	return !more && float64(k) > mean+off+float64(n)/20
}

func bits(rate int64) string { return fmt.Sprintf("%d bit/s", rate) }
