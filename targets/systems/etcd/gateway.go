package etcd

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// refusal is why the JSON gateway did not do what it was asked for, in the server's words; "" where it gives none that can be read.
// The error is what is to be said of it where nobody knows whether it is done yet.
func refusal(path string, status int, answer []byte) (why string, unknown error) {
	var said struct {
		Message string `json:"message"`
		Error   string `json:"error"` // before 3.6
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return "", fmt.Errorf("%s answered %d: %q", path, status, answer)
	}
	why = cmp.Or(said.Message, said.Error)
	return why, fmt.Errorf("%s answered %d: %s", path, status, why)
}
