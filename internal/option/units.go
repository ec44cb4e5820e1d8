package option

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// How parameters with units of their own are written.

// rates are the units of a Rate, in bits per second.
var rates = []struct {
	unit string
	bits float64
}{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}

// parseRate reads "256kbit" as bits per second.
func parseRate(text string) (int64, error) {
	for _, r := range rates {
		if number, ok := strings.CutSuffix(text, r.unit); ok {
			f, err := strconv.ParseFloat(number, 64)
			if err != nil || !(f > 0) || f*r.bits < 1 || f*r.bits > 1e15 {
				break
			}
			return int64(math.Round(f * r.bits)), nil
		}
	}
	return 0, fmt.Errorf("no rate: %q", text)
}

// parsePercent reads "30%" as 0.3.
func parsePercent(text string) (float64, error) {
	number, ok := strings.CutSuffix(text, "%")
	f, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(f > 0 && f <= 100) {
		return 0, fmt.Errorf("no share: %q", text)
	}
	return f / 100, nil
}

// parsePorts reads "2379,2380"; "all" is no list.
func parsePorts(text string) (ports []int, err error) {
	if text == "all" {
		return nil, nil
	}
	for _, word := range strings.Split(text, ",") {
		p, err := strconv.ParseUint(word, 10, 16)
		if err != nil || p == 0 {
			return nil, fmt.Errorf("no port: %q", word)
		}
		ports = append(ports, int(p))
	}
	return ports, nil
}

// drifts are the units of a Drift.
var drifts = []struct {
	unit  string
	share float64
}{{"%", 1e-2}, {"ppm", 1e-6}}

// parseDrift reads "1%" as 0.01. A clock must neither stand still nor run back, nor more than ten times too fast.
func parseDrift(text string) (float64, error) {
	for _, d := range drifts {
		if number, ok := strings.CutSuffix(text, d.unit); ok {
			f, err := strconv.ParseFloat(number, 64)
			if err != nil || f == 0 || !(f*d.share > -0.9 && f*d.share <= 10) {
				break
			}
			return f * d.share, nil
		}
	}
	return 0, fmt.Errorf("no drift: %q", text)
}

// Percent returns a Percent option as a share of 1.
func (v Values) Percent(name string) float64 { return must(parsePercent, v.Value(name)) }

// Rate returns a Rate option in bits per second.
func (v Values) Rate(name string) int64 { return must(parseRate, v.Value(name)) }

// Ports returns the ports of a Ports option, none for all.
func (v Values) Ports(name string) []int { return must(parsePorts, v.Value(name)) }

// Drift returns a Drift option as a share of 1.
func (v Values) Drift(name string) float64 { return must(parseDrift, v.Value(name)) }

// must is for values that were checked.
func must[T any](parse func(string) (T, error), text string) T {
	v, err := parse(text)
	if err != nil {
		panic("option: " + err.Error())
	}
	return v
}
