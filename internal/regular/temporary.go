package regular

import "regexp"

// TemporaryPrefix is the beginning of the names of files that olmkit has not finished
// writing.
const TemporaryPrefix = ".olmkit-"

// temporaryName is the pattern of these names: the prefix and 26 random letters and digits.
var temporaryName = regexp.MustCompile(`^` + regexp.QuoteMeta(TemporaryPrefix) + `[A-Z2-7]{26}\.tmp$`)

// IsTemporary reports whether a file has the name of one that olmkit has not finished
// writing (S6). A killed process may leave such files behind. A load skips and reports them.
func IsTemporary(name string) bool { return temporaryName.MatchString(name) }
