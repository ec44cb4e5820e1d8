// Package count writes how many things there are.
package count

import "strconv"

// Of writes a number of things: "1 node", "3 nodes".
func Of(n int, thing string) string { return strconv.Itoa(n) + " " + Noun(n, thing) }

// Noun is what so many things are called: "node" or "nodes". Things whose names take more than an s are not counted here.
func Noun(n int, thing string) string {
	if n == 1 {
		return thing
	}
	return thing + "s"
}
