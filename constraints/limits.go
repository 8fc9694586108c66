package constraints

// Limits bound the size and the cost of constraints. Zero fields, and a nil
// *Limits, mean the defaults. Errors name the field to raise.
type Limits struct {
	// MaxSize is the maximum size of a property's value in bytes, checked
	// before parsing. Default: 65,536, as documented. OLM itself allows
	// 131,072.
	MaxSize int
	// MaxDepth is the maximum nesting of constraints; a single leaf has depth
	// 1. Default: 100.
	MaxDepth int
	// MaxNodes is the maximum number of constraints in a tree, including
	// compound ones. Default: 1,000.
	MaxNodes int
	// MaxRuleSize is the maximum size of a CEL rule in bytes. Default: 65,536,
	// which MaxSize already implies.
	MaxRuleSize int
	// MaxRuleDepth is the maximum nesting of a CEL rule as counted by its
	// parser; a pair of parentheses counts once. Default: 100.
	MaxRuleDepth int
	// MaxRuleTokens is the maximum number of tokens of a CEL rule. They are
	// counted before parsing, which cannot be interrupted and takes up to five
	// microseconds per token. The sign of a number counts as 30 tokens, a
	// non-ASCII character as 3, and every 64 bytes of other text as one. After
	// text that is not a valid token, each byte counts as 3. Default: 8,000.
	MaxRuleTokens int
	// MaxRuleNodes is the maximum number of nodes of a CEL rule's syntax tree
	// after expansion of its macros (exists, all, map …). Empty lists and maps
	// count as ten. A node inside n nested macros counts 1+n/4 times. Default:
	// 2,000.
	MaxRuleNodes int
	// MaxCost is the maximum cost of evaluating a CEL rule on one bundle. Each
	// iteration of a macro costs one unit per node of its body; operations on
	// long texts, lists and maps cost more. A unit takes 20 to 100 nanoseconds.
	// Searching for a property costs about 15 units per property of the bundle.
	// Compiling the constant regular expressions of a rule may cost as much
	// again, once; large ones are compiled and charged at each evaluation. The
	// Compiler's limit applies. Default: 500,000.
	MaxCost uint64
	// MaxPerBundle is the maximum number of requirements of one bundle. Code
	// that reads bundles applies it: package graph, and package resolver for
	// installed operators. Default: 1,000.
	MaxPerBundle int
	// MaxTotalCost is the maximum total cost of all evaluations by an
	// Evaluator, in the same unit. Cached results are free, and the constant
	// regular expressions of a rule are charged once. Which evaluations fail
	// depends on their order, so share an Evaluator between goroutines only
	// where that does not matter. Default: 50,000,000, a few seconds.
	MaxTotalCost uint64
}

// PerBundle returns the maximum number of requirements of one bundle.
func (l *Limits) PerBundle() int { return l.WithDefaults().MaxPerBundle }

// WithDefaults returns the limits with every zero field replaced.
func (l *Limits) WithDefaults() Limits {
	var full Limits
	if l != nil {
		full = *l
	}
	setDefault(&full.MaxSize, 64<<10) // D4
	setDefault(&full.MaxDepth, 100)   // D4
	setDefault(&full.MaxNodes, 1000)
	setDefault(&full.MaxRuleSize, 64<<10)
	setDefault(&full.MaxRuleDepth, 100)
	setDefault(&full.MaxRuleTokens, 8000)
	setDefault(&full.MaxRuleNodes, 2000)
	setDefault(&full.MaxCost, 500_000)
	setDefault(&full.MaxTotalCost, 50_000_000)
	setDefault(&full.MaxPerBundle, 1000)
	return full
}

func setDefault[T int | uint64](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
