package view

import (
	"html/template"
	"strings"
)

// Document returns a self-contained document without scripts, in the style of [New]'s pages.
// Generator is the command that made it.
func Document(title, generator string, body template.HTML) (*Page, error) {
	var style []byte
	for _, name := range []string{"page.css", "document.css"} {
		text, err := files.ReadFile("app/" + name)
		if err != nil {
			return nil, err
		}
		style = append(style, text...)
	}
	policy := strings.Join([]string{
		"default-src 'none'", "style-src '" + hash(style) + "'", "img-src data:", "base-uri 'none'", "form-action 'none'",
	}, "; ")
	return page(title, generator, policy, style, []byte(body)), nil
}
