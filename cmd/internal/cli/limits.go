package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
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

// The limits are what --limit changes. Their names are those in the errors about exceeded
// limits.
type limits struct {
	load   fbc.Limits
	rules  constraints.Limits
	bundle registryv1.Limits
	image  oci.Limits
	given  []string
}

// A limit is one of the limits and its description.
type limit struct {
	name, text string
	// fields returns pointers to the fields of limits that this limit sets. The help shows the
	// default of the first one.
	fields func(*limits) []any
}

// set sets the fields of a limit.
func (x limit) set(l *limits, n int64) {
	for _, field := range x.fields(l) {
		switch p := field.(type) {
		case *int64:
			*p = n
		case *int:
			*p = int(n)
		case *uint64:
			*p = uint64(n)
		}
	}
}

// standard returns the default of a limit, as a user would write it.
func (x limit) standard() string {
	l := limits{
		load:   (*fbc.Limits)(nil).WithDefaults(),
		rules:  (*constraints.Limits)(nil).WithDefaults(),
		bundle: (*registryv1.Limits)(nil).WithDefaults(),
		image:  (*oci.Options)(nil).WithDefaults().Catalogs,
	}
	n := reflect.ValueOf(x.fields(&l)[0]).Elem()
	return formatAmount(n.Convert(reflect.TypeFor[int64]()).Int())
}

// limitTable lists all limits.
var limitTable = []limit{
	{"FileSize", "one file", func(l *limits) []any { return []any{&l.load.FileSize} }},
	{"DocumentSize", "one document of a file, or of a bundle (default 3MiB)", func(l *limits) []any { return []any{&l.load.DocumentSize, &l.bundle.DocumentSize} }},
	{"Documents", "the documents of a catalog", func(l *limits) []any { return []any{&l.load.Documents} }},
	{"Files", "the files and directories of a catalog, or of a bundle (default 10000)", func(l *limits) []any { return []any{&l.load.Files, &l.bundle.Files} }},
	{"IgnoreSize", "one .indexignore file", func(l *limits) []any { return []any{&l.load.IgnoreSize} }},
	{"Depth", "the nesting of a document, at most 10000", func(l *limits) []any { return []any{&l.load.Depth} }},
	{"Expansion", "the expansion of YAML aliases, and the tree of one document", func(l *limits) []any { return []any{&l.load.Expansion, &l.bundle.Expansion} }},
	{"PropertySize", "one property value that is kept", func(l *limits) []any { return []any{&l.load.PropertySize} }},
	{"Diagnostics", "the findings that are listed; the rest are counted", func(l *limits) []any { return []any{&l.load.Diagnostics} }},
	{"BundleSize", "the files of a bundle, for olmkit manifests and validate", func(l *limits) []any { return []any{&l.bundle.BundleSize} }},
	{"Objects", "the manifests of a bundle, for olmkit manifests and validate", func(l *limits) []any { return []any{&l.bundle.Objects} }},
	{"ImageDownload", "the compressed layers of a catalog image", func(l *limits) []any { return []any{&l.image.Download} }},
	{"ImageScan", "the decompressed layers of a catalog image", func(l *limits) []any { return []any{&l.image.Scan} }},
	{"ImageBytes", "the files of a catalog in an image", func(l *limits) []any { return []any{&l.image.Bytes} }},
	{"ImageFiles", "the files and directories of a catalog in an image", func(l *limits) []any { return []any{&l.image.Files} }},
	{"ImageLayers", "the layers of a catalog image", func(l *limits) []any { return []any{&l.image.Layers} }},
	{"MaxSize", "one olm.constraint", func(l *limits) []any { return []any{&l.rules.MaxSize} }},
	{"MaxDepth", "the nesting of a constraint", func(l *limits) []any { return []any{&l.rules.MaxDepth} }},
	{"MaxNodes", "the constraints in a tree", func(l *limits) []any { return []any{&l.rules.MaxNodes} }},
	{"MaxRuleSize", "one CEL rule", func(l *limits) []any { return []any{&l.rules.MaxRuleSize} }},
	{"MaxRuleDepth", "the nesting of a CEL rule", func(l *limits) []any { return []any{&l.rules.MaxRuleDepth} }},
	{"MaxRuleTokens", "the tokens of a CEL rule", func(l *limits) []any { return []any{&l.rules.MaxRuleTokens} }},
	{"MaxRuleNodes", "the syntax tree of a CEL rule", func(l *limits) []any { return []any{&l.rules.MaxRuleNodes} }},
	{"MaxCost", "the cost of one evaluation of a CEL rule", func(l *limits) []any { return []any{&l.rules.MaxCost} }},
	{"MaxPerBundle", "the requirements of one bundle", func(l *limits) []any { return []any{&l.rules.MaxPerBundle} }},
	{"MaxTotalCost", "the total cost of CEL evaluations in a problem", func(l *limits) []any { return []any{&l.rules.MaxTotalCost} }},
}

// limitNames returns the names of the limits, each followed by suffix.
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

// units lists the units of amounts, the largest first.
var units = []struct {
	suffix string
	size   int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// formatAmount returns a number in the largest unit that divides it.
func formatAmount(n int64) string {
	for _, u := range units {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10)
}

// parseAmount parses a positive number with an optional unit KiB, MiB or GiB.
func parseAmount(text string) (int64, error) {
	digits, unit := text, int64(1)
	for _, u := range units {
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

// bound sets the limits in the options of a problem, for inline catalogs.
func (l *limits) bound(o *resolver.Options) { o.LoadLimits, o.ConstraintLimits = l.fbc(), &l.rules }

// graph returns options for indexing a catalog within these limits.
func (l *limits) graph() *graph.Options {
	return &graph.Options{Load: &fbc.LoadOptions{Limits: &l.load}, ConstraintLimits: &l.rules}
}
