package regular

import "strings"

// TemporaryPrefix is the beginning of the names of files that olmkit has not finished
// writing.
const TemporaryPrefix = ".olmkit-"

// IsTemporary reports whether a file has the name of one that olmkit has not finished
// writing (S6): the prefix, 26 random letters and digits, and .tmp. A killed process may leave
// such files behind. A load skips and reports them.
func IsTemporary(name string) bool {
	rest, hasPrefix := strings.CutPrefix(name, TemporaryPrefix)
	random, hasSuffix := strings.CutSuffix(rest, ".tmp")
	return hasPrefix && hasSuffix && len(random) == 26 && strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
