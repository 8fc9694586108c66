package constraints

// Limits bound what a constraint may cost (D4, D18). The zero value of a field
// stands for its default; a nil *Limits stands for all defaults. Whoever needs
// more sets the field that the error names.
type Limits struct {
	// MaxSize is the largest size of a property's value in bytes, checked
	// before it is parsed. Default 65,536, the documented 64 KiB. The running
	// OLM allows 131,072.
	MaxSize int
	// MaxDepth is the deepest nesting of constraints; a leaf alone has depth 1.
	// Default 100.
	MaxDepth int
	// MaxNodes is the largest number of constraints in a tree, compound ones
	// included. Default 1,000.
	MaxNodes int
	// MaxRuleSize is the longest CEL rule in bytes. Default 65,536: the rest of
	// the property leaves no room for more.
	MaxRuleSize int
	// MaxRuleDepth is the deepest nesting of a CEL rule, as its parser counts:
	// a pair of parentheses counts once. Default 100.
	MaxRuleDepth int
	// MaxRuleTokens is the largest number of tokens of a CEL rule, counted before
	// it is parsed, which cannot be interrupted and takes up to five microseconds
	// for each. The sign of a number counts as 30 tokens, a character beyond ASCII
	// as 3, 64 bytes of other text as one, and each byte after what cannot be
	// divided into tokens as 3. Default 8,000.
	MaxRuleTokens int
	// MaxRuleNodes is the largest number of nodes of a CEL rule's syntax tree,
	// after its macros (exists, all, map …) were expanded. Empty lists and maps
	// count as ten, and what is in n macros once more for each four of them.
	// Default 2,000.
	MaxRuleNodes int
	// MaxCost is the most that one evaluation of a CEL rule on one bundle may
	// cost: for each turn of a macro one unit per node of its body, and more
	// for work on long texts, lists and maps. A unit takes between 20 and 100
	// nanoseconds. Looking for a property takes some 15 units for each one that
	// the bundle has. Regular expressions that the rule states as constants may
	// cost as much again to compile, but for large ones, which each evaluation
	// compiles and pays. This is taken from the limits of the Compiler. Default
	// 500,000.
	MaxCost uint64
	// MaxPerBundle is the largest number of requirements that one bundle may
	// state. Whoever reads bundles applies it: package graph, and package
	// resolver for installed operators. Default 1,000.
	MaxPerBundle int
	// MaxTotalCost is the most that all evaluations of an Evaluator may cost
	// together, in the same unit. Results that it remembers cost nothing, and the
	// constant regular expressions of a rule are paid once.
	// What is then not evaluated depends on the order, so share an Evaluator
	// between goroutines only where that does not matter. Default 50,000,000,
	// some seconds.
	MaxTotalCost uint64
}

// PerBundle returns how many requirements one bundle may state.
func (l *Limits) PerBundle() int { return l.orDefault().MaxPerBundle }

// orDefault returns l with its defaults filled in.
func (l *Limits) orDefault() Limits {
	var full Limits
	if l != nil {
		full = *l
	}
	setDefault(&full.MaxSize, 64<<10)
	setDefault(&full.MaxDepth, 100)
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
