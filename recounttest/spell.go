package recounttest

import (
	"fmt"

	"recount/harness/record"
	"recount/internal/hint"
)

// spell says in Go what a hint says of an option.
func spell(o hint.Option) string {
	switch o.Name {
	case "on":
		switch o.Value {
		case record.OnDocker:
			return "recounttest.OnDocker()"
		case record.OnVirtual:
			return "recounttest.OnVirtual()"
		}
	case "nodes":
		return fmt.Sprintf("recounttest.Nodes(%s)", o.Value)
	case "opt":
		return fmt.Sprintf("recounttest.Set(%q, …)", o.Value)
	case "time":
		return "recounttest.For"
	case "results":
		return "recounttest.Results"
	}
	return o.String()
}
