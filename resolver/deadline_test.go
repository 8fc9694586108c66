package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// doves returns a problem that is hard to refute: more subscriptions than APIs,
// each version of a package provides one of the APIs, and two providers of an
// API exclude each other. A search has to try nearly everything.
func doves(t testing.TB, packages, apis, versions int) resolver.Problem {
	t.Helper()
	var b strings.Builder
	p := resolver.Problem{Namespace: "ns"}
	for i := range packages {
		pkg := fmt.Sprintf("p%d", i)
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":"c"}`+"\n", pkg)
		fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":"c","entries":[`, pkg)
		for v := range versions {
			if v > 0 {
				fmt.Fprintf(&b, `,{"name":"%s.v%d","replaces":"%s.v%d"}`, pkg, v, pkg, v-1)
			} else {
				fmt.Fprintf(&b, `{"name":"%s.v%d"}`, pkg, v)
			}
		}
		b.WriteString("]}\n")
		for v := range versions {
			fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":"%s.v%d","image":"i","properties":[`+
				`{"type":"olm.package","value":{"packageName":%q,"version":"%d.0.0"}},`+
				`{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"K%d"}}]}`+"\n", pkg, pkg, v, pkg, v, v%apis)
		}
		p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Package: pkg})
	}
	c, err := graph.LoadBytes(context.Background(), []byte(b.String()), "pigeons", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Catalogs = []resolver.Catalog{{Name: "pigeons", Namespace: "olm", Graph: c}}
	return p
}

// obeys checks that f ends within 100 ms of a start when its deadline is 50 ms,
// with the context's error (D18). A slow machine gets a few tries.
func obeys(t *testing.T, what string, f func(ctx context.Context) error) {
	t.Helper()
	var took time.Duration
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		start := time.Now()
		err := f(ctx)
		took = time.Since(start)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%s: got %v after %v, want the deadline", what, err, took)
		}
		if took < 100*time.Millisecond {
			t.Logf("%s ended %v after a deadline of 50ms", what, took)
			return
		}
	}
	t.Errorf("%s ended after %v; the deadline was 50ms", what, took)
}

// TestDeadline checks that a deadline ends solving, shrinking, proving and fixing
// on 10,000 candidates (D18).
func TestDeadline(t *testing.T) {
	hard := doves(t, 11, 10, 1000)
	obeys(t, "solving", func(ctx context.Context) error {
		_, err := resolver.Resolve(ctx, hard)
		return err
	})
	// Easy to refute, and long to explain: every step has 10,000 candidates.
	no := conflictOf(t, doves(t, 6, 5, 1600))
	obeys(t, "proving", func(ctx context.Context) error {
		for {
			if _, err := no.Cores[0].Derive(ctx); err != nil {
				return err
			}
		}
	})
	obeys(t, "fixing", func(ctx context.Context) error {
		for {
			if _, err := no.Cores[0].Fixes(ctx, 0); err != nil {
				return err
			}
		}
	})
	gone, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stopped")
	cancel(stop)
	if _, err := no.Text(gone, 100, nil); !errors.Is(err, stop) {
		t.Errorf("Text: got %v, want the cause of the context", err)
	}
	if _, err := no.Report(gone); !errors.Is(err, stop) {
		t.Errorf("Report: got %v, want the cause of the context", err)
	}
	start := time.Now()
	text := no.Error()
	if took := time.Since(start); took > 100*time.Millisecond {
		t.Errorf("Error took %v: %s", took, text)
	}
	t.Log(text)
}

// TestLongProof checks that a proof nobody would read is given up for the facts
// alone, with a sentence that says so.
func TestLongProof(t *testing.T) {
	core := conflictOf(t, doves(t, 3, 2, 2)).Cores[0]
	full, err := core.Derive(context.Background())
	if err != nil || full.Incomplete {
		t.Fatalf("got %v, %v, want a derivation", full, err)
	}
	d, err := resolver.DeriveWithin(context.Background(), core, 50)
	if err != nil || !d.Incomplete {
		t.Fatalf("got %v, %v, want the facts", d, err)
	}
	want := "subscriptions p0, p1 and p2 cannot be had together: these 5 facts contradict each other in too many ways to tell one by one"
	if got := d.Headline(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := len(d.Conclusion.Because); got != len(core.Facts) {
		t.Errorf("%d reasons, want one for each of %d facts", got, len(core.Facts))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := resolver.DeriveWithin(ctx, core, 50); err == nil {
		t.Error("a cancelled context was not obeyed")
	}
	// What is said in full can be far longer than the proof.
	if long, err := conflictOf(t, doves(t, 4, 3, 3)).Cores[0].Derive(context.Background()); err != nil || !long.Incomplete {
		t.Errorf("got %v, %v, want the facts", long, err)
	}
	// Versions that are alike do not make it longer.
	many, err := conflictOf(t, doves(t, 3, 2, 300)).Cores[0].Derive(context.Background())
	if err != nil || many.Incomplete {
		t.Errorf("got %v, %v, want a derivation", many, err)
	}
}
