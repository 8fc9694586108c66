// Package docs embeds the pages about codes. To read them, call
// [github.com/olmkit/olmkit/fbc.Explanations],
// [github.com/olmkit/olmkit/resolver/fact.Explanations] and
// [github.com/olmkit/olmkit/resolver/olmv1.Explanations]; "olmkit explain" also reads the others.
package docs

import "embed"

// Pages holds codes/CODE.md for each code of a finding, facts/CODE.md for each code of
// a fact, refusals/CODE.md for each code of a refusal, advice/CODE.md and fixes/CODE.md for each
// kind of advice, note and fix, and a README.md for each directory. It is exported for package internal/page:
// an embed directive cannot name files outside its own directory.
//
//go:embed codes/*.md facts/*.md refusals/*.md advice/*.md fixes/*.md
var Pages embed.FS
