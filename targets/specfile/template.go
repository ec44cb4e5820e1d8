package specfile

import (
	"bytes"
	_ "embed" // the template
	"fmt"
	"strconv"
	"text/template"
)

//go:embed template.yaml
var templateText string

var templateFile = template.Must(template.New("spec").Parse(templateText))

// Template is a spec to begin with, every field explained: that of the HTTP election which an executable of Recount has
// under the command "example". File is the name that it will have.
func Template(file, binary string) ([]byte, error) {
	var b bytes.Buffer
	err := templateFile.Execute(&b, struct{ File, Binary string }{file, strconv.Quote(binary)})
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return b.Bytes(), nil
}
