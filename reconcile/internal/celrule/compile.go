package celrule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/ext"

	"github.com/olmkit/olmkit/internal/celcost"
)

// Limits of what is read. A rule and its nesting have those that package
// constraints has by default; schemas of the API server end long before theirs.
const (
	maxRuleSize   = 64 << 10
	maxRuleDepth  = 100
	maxRuleTokens = 8000
	maxRuleNodes  = 2000
	maxDepth      = 256
)

// keyword is the member of a schema that holds its rules.
const keyword = "x-kubernetes-validations"

// The variables of a rule.
const (
	varSelf    = "self"
	varOldSelf = "oldSelf"
)

// Rules are the rules of a schema. They are immutable; any number of goroutines
// may use them.
type Rules struct {
	// Faults are rules that cannot be evaluated on any object, by path. The path
	// is that of the schema, with * for the elements of a list or a map.
	Faults []Fault

	root *node
}

// A Fault is a rule that an object breaks, or that cannot be evaluated.
type Fault struct {
	// Path is the JSON pointer of the part of the object.
	Path, Message string
	// Unchecked says that the rule may hold.
	Unchecked bool
}

// A node is a schema, as far as rules need it.
type node struct {
	typ, format string
	intOrString bool
	resource    bool // has apiVersion, kind and metadata
	rules       []rule
	names       []string // of props, sorted
	props       map[string]*node
	items       *node
	values      *node // of a map
}

type rule struct {
	text, message string
	program       *celcost.Program
	messages      *celcost.Program // of messageExpression, or nil
}

type compiler struct {
	ctx   context.Context // of one call of Compile
	env   *cel.Env
	costs *celcost.Env
	out   *Rules
}

// Compile reads the rules of a schema: an openAPIV3Schema as encoding/json
// decodes it. It returns nil if there are none. If the context ends, rules are
// missing.
func Compile(ctx context.Context, schema map[string]any) *Rules {
	if !mentions(schema, 0) {
		return nil
	}
	c := &compiler{ctx: ctx, out: &Rules{}}
	if err := c.environment(); err != nil {
		c.fault("", err)
		return c.out
	}
	c.out.root = c.node(schema, "", 0)
	c.out.root.resource = true
	return c.out
}

// mentions reports whether there are rules anywhere in a schema.
func mentions(v any, depth int) bool {
	if depth > maxDepth {
		return true // for node to complain about
	}
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			if name == keyword || mentions(child, depth+1) {
				return true
			}
		}
	case []any:
		for _, child := range v {
			if mentions(child, depth+1) {
				return true
			}
		}
	}
	return false
}

func (c *compiler) environment() (err error) {
	c.env, err = cel.NewEnv(
		cel.Variable(varSelf, cel.DynType),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		ext.Strings(ext.StringsVersion(0)), // later ones have format, whose result may be of any length
		ext.Sets(),
		cel.ParserExpressionSizeLimit(maxRuleSize),
		cel.ParserRecursionLimit(maxRuleDepth),
	)
	if err != nil {
		return err
	}
	c.costs, err = celcost.NewEnv(c.env, nil, []string{
		"charAt", "indexOf", "join", "lastIndexOf", "lowerAscii", "replace", "split", "substring", "trim", "upperAscii",
		"sets.contains", "sets.equivalent", "sets.intersects",
	})
	return err
}

func (c *compiler) fault(path string, err error) {
	c.out.Faults = append(c.out.Faults, Fault{Path: path, Message: err.Error(), Unchecked: true})
}

func (c *compiler) node(schema map[string]any, path string, depth int) *node {
	is := func(name string) bool { v, _ := schema[name].(bool); return v }
	n := &node{intOrString: is("x-kubernetes-int-or-string"), resource: is("x-kubernetes-embedded-resource")}
	n.typ, _ = schema["type"].(string)
	n.format, _ = schema["format"].(string)
	if depth > maxDepth {
		c.fault(path, fmt.Errorf("the schema is nested more than %d deep", maxDepth))
		return n
	}
	child := func(v any, at string) *node {
		if m, ok := v.(map[string]any); ok {
			return c.node(m, at, depth+1)
		}
		return nil
	}
	if props, ok := schema["properties"].(map[string]any); ok {
		n.props = make(map[string]*node, len(props))
		n.names = slices.Sorted(maps.Keys(props))
		for _, name := range n.names {
			n.props[name] = child(props[name], path+"/"+pointerToken(name))
		}
	}
	n.items = child(schema["items"], path+"/*")
	n.values = child(schema["additionalProperties"], path+"/*")
	for _, name := range []string{"allOf", "anyOf", "oneOf", "not"} {
		if mentions(schema[name], 0) {
			c.fault(path, fmt.Errorf("rules within %s are not read", name))
		}
	}
	list, _ := schema[keyword].([]any)
	for _, v := range list {
		if c.ctx.Err() != nil {
			return n
		}
		r, err := c.rule(v)
		switch {
		case err != nil:
			c.fault(path, err)
		case r != nil:
			n.rules = append(n.rules, *r)
		}
	}
	return n
}

// rule compiles an element of the list of rules. It returns nil for one that
// does not apply to objects at rest.
func (c *compiler) rule(v any) (*rule, error) {
	m, _ := v.(map[string]any)
	r := &rule{}
	r.text, _ = m["rule"].(string)
	r.message, _ = m["message"].(string)
	if r.text == "" {
		return nil, errors.New("a rule without text")
	}
	parsed, err := c.parse(r.text)
	if err == nil {
		if mentionsOldSelf(parsed) {
			return nil, nil
		}
		r.program, err = c.plan(parsed)
	}
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", clip(r.text), err)
	}
	if text, ok := m["messageExpression"].(string); ok {
		// One that does not compile, for whatever reason, leaves the message.
		if parsed, err := c.parse(text); err == nil {
			r.messages, _ = c.plan(parsed)
		}
	}
	return r, nil
}

func mentionsOldSelf(parsed *cel.Ast) bool {
	found := false
	celast.PostOrderVisit(parsed.NativeRep().Expr(), celast.NewExprVisitor(func(x celast.Expr) {
		found = found || x.Kind() == celast.IdentKind && x.AsIdent() == varOldSelf
	}))
	return found
}

// plan checks and plans what was parsed.
func (c *compiler) plan(parsed *cel.Ast) (*celcost.Program, error) {
	checked, issues := c.env.Check(parsed)
	if issues.Err() != nil {
		return nil, issueError(issues)
	}
	return c.costs.Program(checked, NewBudget().Each)
}

// parse returns the syntax tree of a rule that is small enough to be checked.
func (c *compiler) parse(text string) (*cel.Ast, error) {
	if n := celcost.Tokens(text); n > maxRuleTokens {
		return nil, fmt.Errorf("it counts as %d tokens: at most %d are allowed", n, maxRuleTokens)
	}
	if celcost.Expands(text) {
		return nil, errors.New("its macros optMap and optFlatMap expand to too much")
	}
	parsed, issues := c.env.Parse(text)
	if issues.Err() != nil {
		return nil, issueError(issues)
	}
	if n := celcost.Size(parsed.NativeRep().Expr()); n > maxRuleNodes {
		return nil, fmt.Errorf("it has %d nodes: at most %d are allowed", n, maxRuleNodes)
	}
	return parsed, nil
}

// issueError returns the first of the checker's errors in one line.
func issueError(issues *cel.Issues) error {
	errs := issues.Errors()
	if len(errs) == 0 {
		return errors.New("it does not compile")
	}
	text := strings.ReplaceAll(errs[0].Message, " (in container '')", "")
	if text, _, _ = strings.Cut(text, "\n"); len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return fmt.Errorf("it does not compile here: %d:%d: %s", errs[0].Location.Line(), errs[0].Location.Column()+1, text)
}

// clip quotes the beginning of a text.
func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:most], ""))
}

func pointerToken(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
