package harness

import (
	"fmt"
	"strings"

	"recount/history"
)

// describe is one line about what the nemesis did: "  3.10s inject cut-link n1 n3: took effect".
func describe(op *history.Op) string {
	outcome := map[history.Type]string{history.OK: "took effect", history.Fail: "DID NOT TAKE EFFECT", history.Info: "not known to have taken effect"}[op.Type]
	if op.F == history.Heal && op.Type == history.OK {
		outcome = "healed"
	}
	line := fmt.Sprintf("%7.2fs %s %s %s: %s", op.Time.Seconds(), op.F, op.Fault.Name, strings.Join(op.Fault.Nodes, " "), outcome)
	if op.Error != "" {
		line += ": " + op.Error
	}
	return line
}
