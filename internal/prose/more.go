package prose

import (
	"slices"
	"strings"
)

// More returns a line with the command that explains some codes, each once.
func More[C ~string](codes ...C) string {
	var list []string
	for _, c := range codes {
		if !slices.Contains(list, string(c)) {
			list = append(list, string(c))
		}
	}
	return `more: "olmkit explain ` + strings.Join(list, " ") + `"`
}
