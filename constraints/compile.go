package constraints

import (
	"errors"
	"sync"

	"github.com/olmkit/olmkit/property"
)

// A Compiler parses requirement properties. It compiles each distinct CEL rule
// once, and initializes CEL only when it first needs it. It is safe for
// concurrent use.
//
// A Compiler keeps every compiled rule in memory; discard it together with the
// catalogs it was used for.
type Compiler struct {
	limits Limits
	env    func() (*celEnv, error)

	mu       sync.Mutex
	programs map[string]*program
}

// NewCompiler returns a Compiler with the given limits. Nil means the defaults.
func NewCompiler(limits *Limits) *Compiler {
	c := &Compiler{limits: limits.WithDefaults(), programs: make(map[string]*program)}
	c.env = sync.OnceValues(func() (*celEnv, error) { return newCELEnv(&c.limits) })
	return c
}

// Rule compiles a CEL rule: an expression of type bool over the variables
// described in the package documentation. The error is not an [*Error], because
// the position of the rule is unknown.
func (c *Compiler) Rule(rule string) (*CEL, error) {
	p, err := c.program(rule)
	if err != nil {
		return nil, err
	}
	return &CEL{Rule: rule, program: p}, nil
}

func (c *Compiler) program(rule string) (*program, error) {
	if len(rule) > c.limits.MaxRuleSize {
		return nil, limitErrorf("MaxRuleSize", "the rule has %d bytes; the limit is %d", len(rule), c.limits.MaxRuleSize)
	}
	c.mu.Lock()
	p, ok := c.programs[rule]
	if !ok {
		p = &program{rule: rule}
		c.programs[rule] = p
	}
	c.mu.Unlock()
	p.once.Do(func() {
		env, err := c.env()
		if err == nil {
			err = env.compile(p)
		}
		p.err = err
	})
	return p, p.err
}

// FromProperty returns the constraint of a requirement property: the tree of an
// olm.constraint, or a leaf for olm.gvk.required, olm.package.required and
// olm.label.required. For any other type it returns ok = false and no error.
//
// The error is an [*Error]; ok is true in that case too.
func (c *Compiler) FromProperty(p property.Property) (x Expr, ok bool, err error) {
	if !property.IsRequirement(p.Type) {
		return nil, false, nil
	}
	if p.Type == property.TypeConstraint {
		x, err = c.Parse(p.Value)
	} else {
		x, err = c.leaf(p)
	}
	if err != nil {
		return nil, true, err
	}
	return x, true, nil
}

// leaf parses an olm.gvk.required, olm.package.required or olm.label.required
// property (H10).
func (c *Compiler) leaf(p property.Property) (Expr, error) {
	if len(p.Value) > c.limits.MaxSize {
		return nil, newError(p.Type, "", c.sizeError(len(p.Value)))
	}
	switch p.Type {
	case property.TypeGVKRequired:
		g, err := property.Parse[property.GVK](p)
		if err != nil {
			return nil, located(p.Type, err)
		}
		if part, err := badPart(g); err != nil {
			return nil, newError(p.Type, "/"+part, err)
		}
		return &GVK{GVK: g}, nil
	case property.TypePackageRequired:
		r, err := property.Parse[property.PackageRequired](p)
		if err != nil {
			return nil, located(p.Type, err)
		}
		rng, err := ParseRange(r.VersionRange)
		if err != nil {
			return nil, newError(p.Type, "/versionRange", err)
		}
		return &Package{Name: r.PackageName, Range: rng}, nil
	default:
		l, err := property.Parse[property.Label](p)
		if err != nil {
			return nil, located(p.Type, err)
		}
		return &Label{Label: l.Label}, nil
	}
}

// located converts an error of package property to an *Error.
func located(typ string, err error) error {
	var e *property.Error
	if errors.As(err, &e) {
		return newError(typ, e.Path, e.Err)
	}
	return newError(typ, "", err)
}
