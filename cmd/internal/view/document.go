package view

import (
	"bytes"
	"embed"
	"fmt"
	"html"
	"html/template"
	"strings"

	"github.com/olmkit/olmkit/internal/visible"
)

//go:embed app/page.css app/document.css
var styles embed.FS

// Document returns a self-contained document without scripts, in the style of [New]'s pages.
// Generator is the command that made it.
func Document(title, generator string, body template.HTML) (*Page, error) {
	var style []byte
	for _, name := range []string{"page.css", "document.css"} {
		text, err := styles.ReadFile("app/" + name)
		if err != nil {
			return nil, err
		}
		style = append(style, text...)
	}
	p := &Page{policy: strings.Join([]string{
		"default-src 'none'", "style-src '" + hash(style) + "'", "img-src data:", "base-uri 'none'", "form-action 'none'",
	}, "; ")}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="%s">
<link rel="icon" href="data:,">
<title>%s</title>
<style>%s</style>
</head>
<body>
%s</body>
</html>
`, html.EscapeString(p.policy), html.EscapeString(generator), html.EscapeString(visible.Line(title)), style, body)
	p.text = b.Bytes()
	return p, nil
}
