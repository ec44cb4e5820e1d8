// Package mutate asks whether anything notices when a decision of the checkers is flipped. Its tests rewrite the sources of
// package checkers, build its tests with all mutants in them, and run each:
//
//	go test ./tools/mutate                                       # a sample, as make test does
//	go test ./tools/mutate -v -mutants 0                         # all of them: make mutate
//	go test ./tools/mutate -v -mutants 0 -mutants-of elects.go   # those of some files
//
// testdata/equivalent.txt lists the decisions that may be flipped without anybody's noticing, and why.
package mutate
