package linear

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTorn(t *testing.T) {
	for name, c := range map[string]struct {
		all  []cluster
		want bool
	}{
		"none":                                {nil, false},
		"one after the other":                 {[]cluster{{0, 1, 2, 3}, {0, 4, 5, 6}}, false},
		"zones that touch":                    {[]cluster{{0, 1, 2, 5}, {0, 4, 5, 6}}, false},
		"zones that overlap":                  {[]cluster{{0, 1, 2, 6}, {0, 4, 5, 7}}, true},
		"a zone within another":               {[]cluster{{0, 1, 2, 9}, {0, 4, 5, 6}}, true},
		"a write within a zone":               {[]cluster{{0, 1, 2, 9}, {0, 4, 5, 4}}, true},
		"a write that may end after it":       {[]cluster{{0, 1, 2, 9}, {0, 4, 9, 4}}, false},
		"a write that may begin before it":    {[]cluster{{0, 1, 2, 9}, {0, 2, 5, 2}}, false},
		"a write between zones":               {[]cluster{{0, 1, 2, 4}, {0, 5, 6, 5}, {0, 7, 8, 9}}, false},
		"a write in the second of two zones":  {[]cluster{{0, 1, 2, 4}, {0, 7, 8, 7}, {0, 5, 6, 9}}, true},
		"what begins and ends at one instant": {[]cluster{{0, 1, 3, 3}, {0, 1, 2, 4}}, true},
		"writes alone overlap as they like":   {[]cluster{{0, 1, 9, 1}, {0, 2, 8, 2}, {0, 3, 7, 3}}, false},
	} {
		a, b := torn(c.all)
		require.Equal(t, c.want, a != nil, name)
		require.Equal(t, c.want, b != nil, name)
	}
}

func TestOpening(t *testing.T) {
	for name, c := range map[string]struct {
		all  []cluster // in the order of their finish
		want time.Duration
	}{
		"none":                          {nil, Never},
		"one":                           {[]cluster{{0, 3, 4, 3}}, 3},
		"the first must come first":     {[]cluster{{0, 1, 2, 1}, {0, 5, 9, 5}}, 1},
		"the one begun first may":       {[]cluster{{0, 4, 5, 4}, {0, 1, 9, 1}}, 1},
		"the one begun first must not":  {[]cluster{{0, 4, 5, 8}, {0, 1, 9, 6}}, 4},
		"the one begun first touches":   {[]cluster{{0, 4, 5, 4}, {0, 1, 9, 5}}, 1},
		"a third is in the way of both": {[]cluster{{0, 7, 8, 7}, {0, 1, 20, 9}, {0, 2, 21, 10}}, 7},
	} {
		require.Equal(t, c.want, opening(c.all), name)
	}
}
