package celcost

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/olmkit/olmkit/internal/lazyregexp"
)

// A regular expression is charged for parsing, compiling and matching, each in
// advance. The price of parsing depends on the text alone: most of it is nearly
// free, but a case-insensitive range of letters takes milliseconds, and so may
// a Unicode class.

// Prices of patterns, in units of the budget.
const (
	patternByte  = 4       // each byte
	smallRange   = 200     // a case-insensitive range up to an ASCII letter
	largeRange   = 200_000 // any other case-insensitive range
	class        = 4_000   // \p{Greek}
	foldedClass  = 100_000 // \p{Greek}, case-insensitive
	instructions = 8       // compiled instructions that one unit pays for, for each byte of the matched text
)

// parseCost returns an upper bound for the price of parsing a pattern.
func parseCost(pattern string) uint64 {
	fold := foldsCase(pattern)
	n := patternByte * uint64(1+len(pattern))
	for i := 0; i+1 < len(pattern); i++ {
		next := pattern[i+1]
		switch c := pattern[i]; {
		case c == '\\' && (next == 'p' || next == 'P'):
			if n += class; fold {
				n += foldedClass
			}
		case c == '-' && fold:
			// The character that ends a range is ASCII unless it begins beyond
			// ASCII or with a numeric escape.
			if n += smallRange; next >= 0x80 || next == '\\' && i+2 < len(pattern) && numeric(pattern[i+2]) {
				n += largeRange
			}
		}
	}
	return n
}

// numeric reports whether an escape that begins with c gives a character by
// number. Other escapes yield ASCII characters.
func numeric(c byte) bool { return c == 'x' || '0' <= c && c <= '7' }

var flagI = lazyregexp.New(`\(\?[a-zA-Z^-]*i`)

// foldsCase reports whether a part of a pattern may be case-insensitive.
func foldsCase(pattern string) bool { return flagI().MatchString(pattern) }

// constantPatterns returns the constant patterns of an expression without
// duplicates.
func constantPatterns(root celast.Expr) []string {
	var list []string
	celast.PostOrderVisit(root, celast.NewExprVisitor(func(x celast.Expr) {
		if x.Kind() != celast.CallKind || x.AsCall().FunctionName() != overloads.Matches || len(x.AsCall().Args()) == 0 {
			return
		}
		args := x.AsCall().Args()
		last := args[len(args)-1]
		if last.Kind() != celast.LiteralKind {
			return
		}
		if s, ok := last.AsLiteral().(types.String); ok && !slices.Contains(list, string(s)) {
			list = append(list, string(s))
		}
	}))
	return list
}

// A pattern is a compiled regular expression.
type pattern struct {
	re   *regexp.Regexp
	size uint64
	err  error
}

// matchCost is the price of matching a text of n bytes.
func matchCost(n int, size uint64) uint64 { return times(1+uint64(n), 1+size/instructions) }

// pattern returns a compiled regular expression, from the program's constants
// or this evaluation's cache if possible.
func (w *work) pattern(text string) *pattern {
	w.spend(bytesCost(len(text))) // for the lookup
	if p := w.constants[text]; p != nil {
		return p
	}
	if p := w.patterns[text]; p != nil {
		return p
	}
	p := compile(text, w.spend)
	if w.patterns == nil {
		w.patterns = map[string]*pattern{}
	}
	w.patterns[text] = p
	return p
}

// compile compiles a regular expression and charges each step in advance.
func compile(text string, spend func(uint64)) *pattern {
	p := measure(text, spend)
	p.compile(text, spend)
	return p
}

// measure parses a regular expression to find its size.
func measure(text string, spend func(uint64)) *pattern {
	spend(parseCost(text))
	p := &pattern{}
	var parsed *syntax.Regexp
	if parsed, p.err = syntax.Parse(text, syntax.Perl); p.err == nil {
		p.size = regexpSize(parsed)
	}
	return p
}

// compile compiles a measured pattern.
func (p *pattern) compile(text string, spend func(uint64)) {
	if p.err == nil {
		spend(times(2, p.size) + parseCost(text)) // Compile parses it again
		p.re, p.err = regexp.Compile(text)
	}
}

// A Regexp is a compiled regular expression with a price for matching.
type Regexp struct {
	*regexp.Regexp
	size uint64
}

// Cost returns the price of matching a text of n bytes.
func (r *Regexp) Cost(n int) uint64 { return matchCost(n, r.size) }

// NewRegexp compiles a regular expression and charges the budget. The error is
// ErrPatterns if the budget is too small.
func NewRegexp(text string, budget *uint64) (re *Regexp, err error) {
	w := &work{left: *budget}
	defer func() {
		*budget = w.left
		if r := recover(); r != nil {
			if _, ok := r.(interpreter.EvalCancelledError); !ok {
				panic(r)
			}
			re, err = nil, ErrPatterns
		}
	}()
	p := compile(text, w.spend)
	if p.err != nil {
		return nil, p.err
	}
	return &Regexp{p.re, p.size}, nil
}

func doMatches(w *work, args []ref.Val) ref.Val {
	s, ok1 := args[0].(types.String)
	text, ok2 := args[1].(types.String)
	if !ok1 || !ok2 {
		return noOverload(overloads.Matches)
	}
	p := w.pattern(string(text))
	if p.err != nil {
		return types.WrapErr(regexpError(p.err))
	}
	w.spend(matchCost(len(s), p.size))
	return types.Bool(p.re.MatchString(string(s)))
}

// times multiplies and saturates on overflow.
func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high > 0 {
		return math.MaxUint64
	}
	return low
}

func regexpError(err error) error {
	var e *syntax.Error
	if errors.As(err, &e) {
		return fmt.Errorf("matches: %s: %s", e.Code, clip(e.Expr))
	}
	return err
}

// clip quotes a text, truncated to 80 bytes.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:most], ""))
}

// maxRegexpSize represents all larger sizes. It exceeds any sensible budget but
// can be multiplied safely.
const maxRegexpSize = 1 << 30

// regexpSize estimates how many instructions an expression compiles to.
func regexpSize(re *syntax.Regexp) uint64 {
	n := uint64(4 + len(re.Rune)/2)
	for _, sub := range re.Sub {
		n = min(n+regexpSize(sub), maxRegexpSize)
	}
	if re.Op == syntax.OpRepeat {
		n *= uint64(max(re.Min, re.Max, 1))
	}
	return min(n, maxRegexpSize)
}
