package prose

import (
	"slices"
	"strconv"

	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/resolver/fact"
)

// likeness returns a number that is equal for steps of one resolution that state the same
// thing about different bundles.
func (w *writing) likeness(s *step, c *proof.Claim) int {
	k := key{w.buffer[:0]}
	own := c.Class // the subject of s
	class := func(n int) {
		switch n {
		case own:
			k.text("these")
		case w.Supposed:
			k.text("supposed")
		default:
			k.number(w.classLikeness(n))
		}
	}
	k.number(int(c.Kind))
	k.text(string(s.Code))
	for _, m := range s.Messages {
		k.text(m)
	}
	switch {
	case c.Kind == proof.Unmet:
		own = proof.NoClass
		k.number(w.Likes[c.Part])
	case c.Rule >= 0:
		r := &w.Rules[c.Rule]
		if c.Kind == proof.Contradiction {
			own = r.Owner
		}
		k.number(r.Like)
		if r.Owner != proof.NoClass {
			class(r.Owner)
		}
	case c.Rule == proof.Counting:
		own = proof.NoClass
		for _, i := range c.Crowding.Limits {
			k.number(w.Rules[i].Like)
		}
	}
	for _, x := range c.Because {
		k.number(int(x.Kind))
		if x.Kind != proof.Contradiction && x.Kind != proof.Unmet {
			class(x.Class)
		}
	}
	for _, x := range s.because {
		switch {
		case len(x.Bundles) > 0 && slices.Equal(x.Bundles, s.Bundles):
			k.text("these")
		case w.Supposed != proof.NoClass && slices.Equal(x.Bundles, w.Classes[w.Supposed]):
			k.text("supposed")
		default:
			k.refs(x.Bundles)
		}
		k.number(x.Likeness)
	}
	w.buffer = k.bytes
	return w.like(k.bytes)
}

// classLikeness returns a number that is equal for classes with the same members.
func (w *writing) classLikeness(n int) int {
	number, ok := w.classLikes[n]
	if !ok {
		var k key
		k.text("class")
		k.refs(w.Classes[n])
		number = w.like(k.bytes)
		w.classLikes[n] = number
	}
	return number
}

// A key encodes a list of numbers and texts as bytes. Different lists have different
// keys.
type key struct{ bytes []byte }

func (k *key) number(n int) { k.bytes = append(strconv.AppendInt(k.bytes, int64(n), 10), ' ') }

func (k *key) text(t string) {
	k.number(len(t))
	k.bytes = append(k.bytes, t...)
}

func (k *key) refs(list []fact.Ref) {
	k.number(len(list))
	for _, r := range list {
		k.text(r.Catalog.Name)
		k.text(r.Catalog.Namespace)
		k.text(r.Channel)
		k.text(r.Name)
	}
}
