package systems

import "recount/election"

// longest is how much of a message that has not ended a Reader of Messages keeps.
const longest = 64 << 20

// Messages returns what reads messages, whose bytes come cut up anyhow, one after the other. next reads those that b begins with:
// it returns them, and how many bytes they are; 0 if the first has not ended, and -1 if it is none, after which nothing more is read:
// encrypted, compressed, or not as expected. It must not keep b.
func Messages(next func(b []byte) (said []election.Said, n int)) election.Reader {
	var rest []byte
	garbled := false
	return func(sent []byte) (all []election.Said) {
		if garbled {
			return nil
		}
		rest = append(rest, sent...)
		at := 0
		for at < len(rest) {
			said, n := next(rest[at:])
			if n == 0 {
				break
			}
			if n < 0 {
				garbled, rest = true, nil
				return all
			}
			at += n
			all = append(all, said...)
		}
		rest = append(rest[:0], rest[at:]...)
		if len(rest) > longest {
			garbled, rest = true, nil
		}
		return all
	}
}
