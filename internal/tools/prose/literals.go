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

// prose matches what is not a single word or a symbol.
var prose = regexp.MustCompile(`[A-Za-z]{2,}[^A-Za-z]* [^A-Za-z]*[A-Za-z]{2,}`)

// literals returns the string literals of a Go file that hold prose, each on its line, so
// that a line of the result has the number of that of the file.
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
			if n.Value[0] == '"' { // one line, whatever is in it
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
