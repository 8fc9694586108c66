package celcost

import "sync"

// A pattern that an expression states as a constant is the same in each evaluation. A
// program compiles it once, however often it is evaluated. What that costs depends on
// the expression alone, so that whoever evaluates the program pays the same, whether
// or not somebody has evaluated it before.

// maxConstants bounds the size of the compiled patterns that a program keeps, in
// instructions: about half a mebibyte. Patterns beyond it are compiled, and paid, in
// each evaluation that needs them.
const maxConstants = 10_000

// constants are the constant patterns of a program. once guards what follows it.
type constants struct {
	texts []string
	once  sync.Once
	kept  map[string]*pattern
	cost  uint64
}

// Prepare compiles the constant patterns of the program unless that has been done, and
// returns what it costs: less than the limit of the program and 2 * maxConstants
// together. It is for the caller to take from a budget, once for all evaluations that
// share the budget.
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
