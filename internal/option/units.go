package option

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// How the values of each kind are written.

// The kinds whose values are numbers have a type each, so that none is read as another.
type (
	number  float64
	percent float64 // a share of 1
	drift   float64 // a share of 1
	size    int64   // bytes
)

var errNot = errors.New("not of this kind")

func parseBool(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, errNot
	}
	return text == "true", nil
}

// parseNumber reads a positive number below 10⁹.
func parseNumber(text string) (number, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0 && f < 1e9) {
		return 0, errNot
	}
	return number(f), nil
}

func parseWhole(text string) (number, error) {
	n, err := parseNumber(text)
	if err != nil || n != number(math.Trunc(float64(n))) {
		return 0, errNot
	}
	return n, nil
}

func parseDuration(text string, fits func(time.Duration) bool) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || !fits(d) {
		return 0, errNot
	}
	return d, nil
}

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
	return 0, errNot
}

// sizes are the units of a Size, in bytes.
var sizes = []struct {
	unit  string
	bytes float64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// parseSize reads "64MiB" as bytes; "none" is 0.
func parseSize(text string) (size, error) {
	if text == "none" {
		return 0, nil
	}
	for _, s := range sizes {
		if number, ok := strings.CutSuffix(text, s.unit); ok {
			f, err := strconv.ParseFloat(number, 64)
			if err != nil || !(f > 0) || f*s.bytes < 1 || f*s.bytes > 1e15 {
				break
			}
			return size(math.Round(f * s.bytes)), nil
		}
	}
	return 0, errNot
}

// parsePercent reads "30%" as 0.3.
func parsePercent(text string) (percent, error) {
	number, ok := strings.CutSuffix(text, "%")
	f, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(f > 0 && f <= 100) {
		return 0, errNot
	}
	return percent(f / 100), nil
}

// parsePorts reads "2379,2380"; "all" is no list.
func parsePorts(text string) (ports []int, err error) {
	if text == "all" {
		return nil, nil
	}
	for _, word := range strings.Split(text, ",") {
		p, err := strconv.ParseUint(word, 10, 16)
		if err != nil || p == 0 {
			return nil, errNot
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
func parseDrift(text string) (drift, error) {
	for _, d := range drifts {
		if number, ok := strings.CutSuffix(text, d.unit); ok {
			f, err := strconv.ParseFloat(number, 64)
			if err != nil || f == 0 || !(f*d.share > -0.9 && f*d.share <= 10) {
				break
			}
			return drift(f * d.share), nil
		}
	}
	return 0, errNot
}
