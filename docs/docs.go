// Package docs embeds the pages about codes. To use them, call Explain or Explanations
// of the packages fbc and resolver.
package docs

import "embed"

// Pages holds codes/CODE.md for each code of a finding, facts/CODE.md for each code of
// a fact, and a README.md for each directory.
//
//go:embed codes/*.md facts/*.md
var Pages embed.FS
