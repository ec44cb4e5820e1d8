package report

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed base.css
var baseCSS string

// Style is the style sheet that every page of Recount's begins with: colours for light and dark as custom properties,
// fonts, plain elements, and the head of a page.
func Style() template.CSS {
	return template.CSS(strings.NewReplacer("/*light*/", properties(light), "/*dark*/", properties(dark),
		"/*fonts*/", "--sans:"+sansFonts+";--mono:"+monoFonts+";").Replace(baseCSS))
}
