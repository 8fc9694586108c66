package yamljson

import "testing"

// FuzzConvert compares Convert with the library, with and without skipping.
func FuzzConvert(f *testing.F) {
	for _, doc := range accepted {
		f.Add([]byte(doc))
	}
	for _, doc := range refused {
		f.Add([]byte(doc))
	}
	for _, c := range skipping {
		f.Add([]byte(c.doc))
	}
	for _, doc := range smuggled {
		f.Add([]byte(doc))
	}
	for _, c := range repeating {
		f.Add([]byte(c.doc))
	}
	f.Add(synthetic(1))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if len(doc) > 1<<16 {
			return // the library is slow
		}
		check(t, doc)
		checkSlow(t, doc)
		checkSkipped(t, doc, heavy)
	})
}
