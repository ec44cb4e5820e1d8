package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// messages reads the stream of JSON messages by which an engine tells how far it is, to its end. A failure halfway is one
// of them.
func messages(answer io.ReadCloser, progress func(line string)) error {
	defer answer.Close()
	for d := json.NewDecoder(answer); ; {
		var m struct {
			ID, Status, Stream, Error string
			Detail                    struct{ Current, Total int64 } `json:"progressDetail"`
		}
		switch err := d.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case m.Error != "":
			return errors.New(strings.TrimSpace(m.Error))
		}
		line := strings.TrimSpace(m.Stream + m.ID + " " + m.Status)
		if m.Detail.Total > 0 {
			line += fmt.Sprintf(", %d of %d MB", m.Detail.Current>>20, m.Detail.Total>>20)
		}
		if line != "" {
			progress(line)
		}
	}
}
