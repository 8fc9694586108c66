// Package docs embeds the pages about codes. To read them, call
// [github.com/olmkit/olmkit/fbc.Explanations] and
// [github.com/olmkit/olmkit/resolver/fact.Explanations].
package docs

import "embed"

// Pages holds codes/CODE.md for each code of a finding, facts/CODE.md for each code of
// a fact, and a README.md for each directory. It is exported for package internal/page:
// an embed directive cannot name files outside its own directory.
//
//go:embed codes/*.md facts/*.md
var Pages embed.FS
