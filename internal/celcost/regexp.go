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
)

// A regular expression costs three times: when it is parsed, when it is compiled,
// and when it is matched. Each is paid before it is done. Parsing is priced by the
// text alone: most of it takes next to nothing, but a range of letters without
// regard to case takes milliseconds, and so may a class of Unicode.

// Prices of a pattern, in the unit of the budget.
const (
	patternByte  = 4       // each byte
	smallRange   = 200     // a range up to an ASCII letter, without regard to case
	largeRange   = 200_000 // any other range, without regard to case
	class        = 4_000   // \p{Greek}
	foldedClass  = 100_000 // \p{Greek}, without regard to case
	bytesPerStep = 8       // of the size of a program, how much a step takes at most
)

// parseCost returns the price of parsing a pattern, or more.
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
			// A range ends at what follows: an ASCII character, or one that may be any.
			if n += smallRange; next >= 0x80 || next == '\\' && i+2 < len(pattern) && numeric(pattern[i+2]) {
				n += largeRange
			}
		}
	}
	return n
}

// numeric reports whether an escape that begins so gives a character by its number.
// Those of other escapes are ASCII.
func numeric(c byte) bool { return c == 'x' || '0' <= c && c <= '7' }

var flagI = regexp.MustCompile(`\(\?[a-zA-Z^-]*i`)

// foldsCase reports whether a part of a pattern may disregard case.
func foldsCase(pattern string) bool { return flagI.MatchString(pattern) }

// constantPatterns returns the patterns that an expression states as constants, each
// once.
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
func matchCost(n int, size uint64) uint64 { return times(1+uint64(n), 1+size/bytesPerStep) }

// pattern returns a regular expression that the program has or that this evaluation
// compiled before, or compiles it.
func (w *work) pattern(text string) *pattern {
	w.spend(bytesCost(len(text))) // of looking it up
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

// compile compiles a regular expression, and pays for each step before it takes it.
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

// compile compiles what was measured.
func (p *pattern) compile(text string, spend func(uint64)) {
	if p.err == nil {
		spend(times(2, p.size) + parseCost(text)) // it is parsed once more
		p.re, p.err = regexp.Compile(text)
	}
}

// A Regexp is a compiled regular expression whose matches have a price.
type Regexp struct {
	*regexp.Regexp
	size uint64
}

// Cost returns what matching a text of n bytes costs.
func (r *Regexp) Cost(n int) uint64 { return matchCost(n, r.size) }

// NewRegexp compiles a regular expression, and takes from the budget what that costs.
// The error is ErrPatterns where that is more than there is.
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

// times multiplies; what does not fit is the largest number.
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

// clip quotes the beginning of a text.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:most], ""))
}

// maxRegexpSize stands for all larger sizes. It exceeds any sensible budget and
// is small enough to be multiplied.
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
