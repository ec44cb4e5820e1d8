//go:build !linux

package member

import "time"

// sinceBoot is not known here: members run in containers, which are Linux's.
func sinceBoot() time.Duration { return 0 }
