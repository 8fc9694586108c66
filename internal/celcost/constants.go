package celcost

import "sync"

// A constant pattern is the same in each evaluation, so a program compiles it
// only once. The cost depends only on the expression. Each caller of Prepare is
// charged the same, whether or not the patterns have been compiled before.

// maxConstants limits the total size of the compiled patterns that a program
// keeps, in instructions: about half a mebibyte. Patterns beyond it are
// compiled and charged in each evaluation.
const maxConstants = 10_000

// constants are the constant patterns of a program. once guards the other
// fields.
type constants struct {
	texts []string
	once  sync.Once
	kept  map[string]*pattern
	cost  uint64
}

// Prepare compiles the constant patterns of the program, if necessary, and returns
// the cost of compiling them, which is less than the program's limit plus 2 *
// maxConstants. The caller charges it once for all evaluations that share a
// budget.
func (p *Program) Prepare() uint64 {
	c := &p.constants
	c.once.Do(func() {
		spend := func(n uint64) { c.cost += n }
		room := uint64(maxConstants)
		for _, text := range c.texts {
			p := measure(text, spend)
			if p.size > room {
				continue
			}
			room -= p.size
			p.compile(text, spend)
			if c.kept == nil {
				c.kept = make(map[string]*pattern, len(c.texts))
			}
			c.kept[text] = p
		}
		c.texts = nil
	})
	return c.cost
}
