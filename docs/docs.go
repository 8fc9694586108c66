// Package docs embeds the pages about codes. To read them, call
// [github.com/olmkit/olmkit/fbc.Explanations],
// [github.com/olmkit/olmkit/resolver/fact.Explanations] and
// [github.com/olmkit/olmkit/resolver/olmv1.Explanations].
package docs

import "embed"

// Pages holds codes/CODE.md for each code of a finding, facts/CODE.md for each code of
// a fact, refusals/CODE.md for each code of a refusal, and a README.md for each directory. It is exported for package internal/page:
// an embed directive cannot name files outside its own directory.
//
//go:embed codes/*.md facts/*.md refusals/*.md
var Pages embed.FS
