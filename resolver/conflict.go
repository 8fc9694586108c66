package resolver

import "strings"

// A Conflict says that a problem has no solution, and why: its facts cannot all
// hold, and without any one of them the others can. It is the error of
// [Resolve].
type Conflict struct {
	ID        string
	Namespace string
	Facts     []Fact
}

// Error tells the facts in one line.
func (c *Conflict) Error() string {
	parts := make([]string, len(c.Facts))
	for i, f := range c.Facts {
		parts[i] = f.String()
	}
	return "no solution in namespace " + c.Namespace + ": " + strings.Join(parts, "; ")
}
