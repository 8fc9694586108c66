package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// prose matches texts with at least two words.
var prose = regexp.MustCompile(`[A-Za-z]{2,}[^A-Za-z]* [^A-Za-z]*[A-Za-z]{2,}`)

// literals returns the string literals of a Go file that contain prose, each on its original line, so that line
// numbers match those of the file.
func literals(name string, source []byte) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := make([]string, bytes.Count(source, []byte("\n"))+2)
	other := map[*ast.BasicLit]bool{} // tags and imports
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			other[n.Tag] = true
		case *ast.ImportSpec:
			other[n.Path] = true
		case *ast.BasicLit:
			if n.Kind != token.STRING || other[n] {
				break
			}
			text, err := strconv.Unquote(n.Value)
			if err != nil || !prose.MatchString(text) {
				break
			}
			at := fset.Position(n.Pos()).Line
			if n.Value[0] == '"' { // a single line
				text = strings.ReplaceAll(text, "\n", " ")
			}
			for i, line := range strings.Split(text, "\n") {
				lines[at+i] += " " + strings.TrimSpace(line)
			}
		}
		return true
	})
	return []byte(strings.Join(lines[1:], "\n")), nil
}
