package resolver_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// lines are the numbers of lines in a text, which move with the blobs.
var lines = regexp.MustCompile(`(cat\d+:|"line": ?)\d+`)

// answerText returns everything that Resolve returns for a problem, as text.
func answerText(t testing.TB, p resolver.Problem) string {
	t.Helper()
	sol, err := resolver.Resolve(context.Background(), p)
	var no *resolver.Conflict
	var text []byte
	switch {
	case errors.As(err, &no):
		text, err = json.MarshalIndent(no, "", " ")
		text = append(text, no.Error()...)
		for _, c := range no.Cores {
			for _, f := range c.Facts {
				text = append(text, "\n"+f.String()...)
			}
		}
	case err == nil:
		text, err = json.MarshalIndent(sol, "", " ")
	}
	if err != nil {
		t.Fatal(err)
	}
	return lines.ReplaceAllString(string(text), "${1}N")
}

// shuffled returns the same problem in another order. It shuffles catalogs, their documents, the entries of channels
// and their skips, the properties of bundles that are not requirements, subscriptions, installed operators and all
// their properties.
func shuffled(t testing.TB, rng *rand.Rand, p resolver.Problem) resolver.Problem {
	p.Catalogs = shuffle(rng, p.Catalogs)
	p.Installed = shuffle(rng, p.Installed)
	p.Policies = shuffle(rng, p.Policies)
	if p.Options.SubscriptionOrder != resolver.AsGiven {
		p.Subscriptions = shuffle(rng, p.Subscriptions)
	}
	for i := range p.Installed {
		p.Installed[i].Properties = shuffleProperties(rng, p.Installed[i].Properties, func(property.Property) bool { return true })
	}
	for i, c := range p.Catalogs {
		docs := shuffle(rng, readDocs(t, *c.FBC))
		for j := range docs {
			docs[j].Entries = shuffle(rng, docs[j].Entries)
			for k := range docs[j].Entries {
				docs[j].Entries[k].Skips = shuffle(rng, docs[j].Entries[k].Skips)
			}
			docs[j].Properties = shuffleProperties(rng, docs[j].Properties, isFact)
		}
		text := render(docs)
		p.Catalogs[i].FBC, p.Catalogs[i].Graph = &text, nil
	}
	return p
}

func shuffle[T any](rng *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// isFact reports whether a property is not a requirement. The order of requirements matters:
// a bundle's first requirement is tried first.
func isFact(p property.Property) bool { return !property.IsRequirement(p.Type) }

// shuffleProperties shuffles the properties that are not requirements. The first one stays,
// because some random rules read it.
func shuffleProperties(rng *rand.Rand, list []property.Property, moves func(property.Property) bool) []property.Property {
	list = slices.Clone(list)
	var at []int
	for i, p := range list {
		if i > 0 && moves(p) {
			at = append(at, i)
		}
	}
	rng.Shuffle(len(at), func(i, j int) { list[at[i]], list[at[j]] = list[at[j]], list[at[i]] })
	return list
}

// TestOrderOfInput checks that the bytes of an answer do not depend on the order of the
// problem (D15, H29).
func TestOrderOfInput(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		p := randomProblem(seed)
		want := answerText(t, open(t, p))
		rng := rand.New(rand.NewPCG(seed, 1))
		for range 3 {
			other := shuffled(t, rng, p)
			if got := answerText(t, open(t, other)); got != want {
				t.Errorf("seed %d (-first +shuffled):\n%s", seed, cmp.Diff(want, got))
			}
		}
	})
}

// TestSameAgain checks that repeated answers are the same, even if many goroutines resolve the problem over the same
// catalogs (D15).
func TestSameAgain(t *testing.T) {
	var problems []resolver.Problem
	var want []string
	seeds(t, func(t *testing.T, seed uint64) {
		if len(problems) < 100 {
			p := open(t, randomProblem(seed))
			problems = append(problems, p)
			want = append(want, answerText(t, p))
		}
	})
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range problems {
				i := (i + 25*worker) % len(problems)
				if got := answerText(t, problems[i]); got != want[i] {
					t.Errorf("problem %s (-first +again):\n%s", problems[i].ID, cmp.Diff(want[i], got))
				}
			}
		})
	}
	wg.Wait()
}
