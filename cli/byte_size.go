package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a number of bytes on the command line: 512MiB, 4GiB, 1000000.
type byteSize int64

var byteUnits = []struct {
	name string
	size float64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"G", 1 << 30}, {"M", 1 << 20}, {"B", 1}, {"", 1},
}

// Set reads a size.
func (s *byteSize) Set(text string) error {
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || n < 0 || math.IsNaN(n) || n*u.size > math.MaxInt64/2 {
			break
		}
		*s = byteSize(n * u.size)
		return nil
	}
	return fmt.Errorf("%q is no size: want one such as 512MiB or 4GiB", text)
}

func (s *byteSize) String() string {
	for _, u := range byteUnits[:3] {
		if n := float64(*s) / u.size; n >= 1 {
			return strconv.FormatFloat(n, 'g', 4, 64) + u.name
		}
	}
	return strconv.FormatInt(int64(*s), 10) + "B"
}

// Type is what the help calls a value.
func (s *byteSize) Type() string { return "size" }
