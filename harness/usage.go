package harness

import "errors"

// usage marks an error as a mistake in what was asked for, not a failure of what was tried.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

// IsUsage reports whether err says that a plan, a scenario or a file is wrong.
func IsUsage(err error) bool {
	var u usage
	return errors.As(err, &u)
}

// Usage marks err as a mistake in what was asked for; nil stays nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return usage{err}
}
