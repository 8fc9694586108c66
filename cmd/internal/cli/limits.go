package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/resolver"
)

// The limits are what --limit changes: those of packages fbc and constraints,
// under the names that their errors use.
type limits struct {
	load   fbc.Limits
	rules  constraints.Limits
	bundle registryv1.Limits
	image  oci.Limits
	given  []string
}

// A limit is one of them, with its default and what it bounds.
type limit struct {
	name, standard, text string
	set                  func(*limits, int64)
}

// limitTable lists them all.
var limitTable = []limit{
	{"FileSize", "2GiB", "one file", func(l *limits, n int64) { l.load.FileSize = n }},
	{"DocumentSize", "64MiB", "one document of a file", func(l *limits, n int64) { l.load.DocumentSize = n }},
	{"Documents", "20000000", "the documents of a catalog", func(l *limits, n int64) { l.load.Documents = n }},
	{"Files", "1000000", "the files and directories of a catalog, or of a bundle (default 10000)", func(l *limits, n int64) { l.load.Files, l.bundle.Files = n, int(n) }},
	{"IgnoreSize", "1MiB", "one .indexignore file", func(l *limits, n int64) { l.load.IgnoreSize = n }},
	{"Depth", "1000", "the nesting of a document, at most 10000", func(l *limits, n int64) { l.load.Depth = n }},
	{"Expansion", "64MiB", "what the aliases of YAML add, and the tree of one document", func(l *limits, n int64) { l.load.Expansion, l.bundle.Expansion = n, n }},
	{"PropertySize", "4MiB", "one property value that is kept", func(l *limits, n int64) { l.load.PropertySize = n }},
	{"Diagnostics", "1000", "the findings that are listed; the rest are counted", func(l *limits, n int64) { l.load.Diagnostics = n }},
	{"BundleSize", "16MiB", "the files of a bundle, for olmkit manifests", func(l *limits, n int64) { l.bundle.BundleSize = n }},
	{"Objects", "10000", "the manifests of a bundle, for olmkit manifests", func(l *limits, n int64) { l.bundle.Objects = int(n) }},
	{"ImageDownload", "1GiB", "the compressed layers of a catalog image", func(l *limits, n int64) { l.image.Download = n }},
	{"ImageScan", "4GiB", "the decompressed layers of a catalog image", func(l *limits, n int64) { l.image.Scan = n }},
	{"ImageBytes", "512MiB", "the files of a catalog in an image", func(l *limits, n int64) { l.image.Bytes = n }},
	{"ImageFiles", "1000000", "the files and directories of a catalog in an image", func(l *limits, n int64) { l.image.Files = n }},
	{"ImageLayers", "128", "the layers of a catalog image", func(l *limits, n int64) { l.image.Layers = n }},
	{"MaxSize", "64KiB", "one olm.constraint", func(l *limits, n int64) { l.rules.MaxSize = int(n) }},
	{"MaxDepth", "100", "the nesting of a constraint", func(l *limits, n int64) { l.rules.MaxDepth = int(n) }},
	{"MaxNodes", "1000", "the constraints in a tree", func(l *limits, n int64) { l.rules.MaxNodes = int(n) }},
	{"MaxRuleSize", "64KiB", "one CEL rule", func(l *limits, n int64) { l.rules.MaxRuleSize = int(n) }},
	{"MaxRuleDepth", "100", "the nesting of a CEL rule", func(l *limits, n int64) { l.rules.MaxRuleDepth = int(n) }},
	{"MaxRuleTokens", "8000", "the tokens of a CEL rule", func(l *limits, n int64) { l.rules.MaxRuleTokens = int(n) }},
	{"MaxRuleNodes", "2000", "the syntax tree of a CEL rule", func(l *limits, n int64) { l.rules.MaxRuleNodes = int(n) }},
	{"MaxCost", "500000", "what one evaluation of a CEL rule may cost", func(l *limits, n int64) { l.rules.MaxCost = uint64(n) }},
	{"MaxPerBundle", "1000", "the requirements of one bundle", func(l *limits, n int64) { l.rules.MaxPerBundle = int(n) }},
	{"MaxTotalCost", "50000000", "what all evaluations of a problem may cost", func(l *limits, n int64) { l.rules.MaxTotalCost = uint64(n) }},
}

// limitNames returns the names of the limits, with something after each.
func limitNames(suffix string) []string {
	var names []string
	for _, l := range limitTable {
		names = append(names, l.name+suffix)
	}
	return names
}

// String, Set and Type implement pflag.Value.
func (l *limits) String() string { return strings.Join(l.given, ",") }
func (l *limits) Type() string   { return "NAME=NUMBER" }
func (l *limits) Set(s string) error {
	name, value, _ := strings.Cut(s, "=")
	i := slices.IndexFunc(limitTable, func(x limit) bool { return strings.EqualFold(x.name, name) })
	if i < 0 {
		return fmt.Errorf("there is no limit %q%s", name, cmp.Or(hint(name, limitNames("")), "; \"olmkit help limits\" lists them"))
	}
	n, err := parseAmount(value)
	if err != nil {
		return err
	}
	limitTable[i].set(l, n)
	l.given = append(l.given, s)
	return nil
}

// parseAmount reads a number above 0, with KiB, MiB or GiB after it or not.
func parseAmount(text string) (int64, error) {
	digits, unit := text, int64(1)
	for _, u := range []struct {
		suffix string
		size   int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}} {
		if before, ok := strings.CutSuffix(text, u.suffix); ok {
			digits, unit = before, u.size
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is not a number above 0; write one like 5000 or 16MiB", text)
	}
	return n * unit, nil
}

// exceededLimit returns the name of the limit that an error reports, or "".
func exceededLimit(err error) string {
	var text *fbc.LimitError
	var requirement *constraints.Error
	var rule *constraints.EvalError
	var image *oci.LimitError
	switch {
	case errors.As(err, &image):
		return "Image" + image.Limit
	case errors.As(err, &text):
		return text.Limit
	case errors.As(err, &requirement):
		return requirement.Limit
	case errors.As(err, &rule):
		return rule.Limit
	}
	return ""
}

// fbc returns the limits of a load.
func (l *limits) fbc() *fbc.Limits { return &l.load }

// bound puts the limits into the options of a problem, for catalogs in its text.
func (l *limits) bound(o *resolver.Options) { o.LoadLimits, o.ConstraintLimits = l.fbc(), &l.rules }

// graph returns the options for indexing with these limits.
func (l *limits) graph() *graph.Options {
	return &graph.Options{Load: &fbc.LoadOptions{Limits: &l.load}, ConstraintLimits: &l.rules}
}
