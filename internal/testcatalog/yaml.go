package testcatalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// writeYAML writes an object in block style with sorted keys. The first line is
// prefixed with first, the others with indent.
func writeYAML(b *strings.Builder, o object, first, indent string) {
	for _, key := range slices.Sorted(maps.Keys(o)) {
		b.WriteString(first + key + ":")
		first = indent
		switch v := o[key].(type) {
		case object:
			b.WriteByte('\n')
			writeYAML(b, v, indent+"  ", indent+"  ")
		case []object:
			b.WriteByte('\n')
			for _, x := range v {
				writeYAML(b, x, indent+"- ", indent+"  ")
			}
		default:
			fmt.Fprintf(b, " %s\n", quoted(fmt.Sprint(v)))
		}
	}
}

// quoted returns a string as a YAML scalar, quoted if necessary.
func quoted(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return strings.ContainsRune(":#<>=|&*!%@`'\"{}[],", r) }) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}
