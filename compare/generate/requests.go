package generate

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// Requests generates problems over one real catalog.
type Requests struct {
	Catalog resolver.Catalog
	able    []graph.Package // the packages that can be installed by themselves, in order
}

// NewRequests finds the packages of a catalog that can be installed by
// themselves.
func NewRequests(ctx context.Context, c resolver.Catalog) (*Requests, error) {
	r := &Requests{Catalog: c}
	for p := range c.Graph.Packages() {
		q := r.problem(1)
		q.Subscriptions = append(q.Subscriptions, r.subscription(p))
		_, err := resolver.Resolve(ctx, q)
		if err == nil {
			r.able = append(r.able, p)
		} else if ctx.Err() != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Requests) problem(n int) resolver.Problem {
	p := resolver.Problem{Namespace: "ns", Catalogs: []resolver.Catalog{r.Catalog}, Subscriptions: make([]resolver.Subscription, 0, n)}
	p.Options.Semantics = resolver.PerBundle
	return p
}

func (r *Requests) subscription(p graph.Package) resolver.Subscription {
	return resolver.Subscription{
		Name: "sub-" + p.Name(), Package: p.Name(), Channel: p.DefaultChannelName(),
		Catalog: r.Catalog.Name, CatalogNamespace: r.Catalog.Namespace,
	}
}

// Fresh returns a solvable problem with n new subscriptions: to the first packages by name that can be installed
// together, or to fewer if there are not enough.
func (r *Requests) Fresh(ctx context.Context, n int) resolver.Problem {
	p := r.problem(n)
	for _, pkg := range r.able {
		if len(p.Subscriptions) == n {
			break
		}
		p.Subscriptions = append(p.Subscriptions, r.subscription(pkg))
		if _, err := resolver.Resolve(ctx, p); err != nil {
			p.Subscriptions = p.Subscriptions[:len(p.Subscriptions)-1]
		}
	}
	return p
}

// Upgrade returns the problem that Fresh returns, but with operators to upgrade: the oldest bundle in the channel of
// each package is installed.
func (r *Requests) Upgrade(ctx context.Context, n int) resolver.Problem {
	p := r.Fresh(ctx, n)
	for i := range p.Subscriptions {
		s := &p.Subscriptions[i]
		pkg, _ := r.Catalog.Graph.Package(s.Package)
		ch, _ := pkg.Channel(s.Channel)
		var oldest graph.Entry
		for e := range ch.Order() {
			oldest = e
		}
		install(&p, s, oldest)
	}
	return p
}

func install(p *resolver.Problem, s *resolver.Subscription, e graph.Entry) {
	b, ok := e.Bundle()
	if !ok {
		return
	}
	in := resolver.Installed{Name: b.Name(), Version: b.Version().String(), Package: s.Package}
	for q := range b.Properties() {
		if !property.IsHeavy(q.Type) {
			in.Properties = append(in.Properties, q)
		}
	}
	s.InstalledCSV = in.Name
	p.Installed = append(p.Installed, in)
}

// Random returns a problem with random subscriptions, one in three of them with
// an operator installed. It may have no solution.
func (r *Requests) Random(seed uint64, n int) resolver.Problem {
	g := rand.New(rand.NewPCG(seed, 0xca7))
	p := r.problem(n)
	all := make([]graph.Package, 0, r.Catalog.Graph.Size().Packages)
	for pkg := range r.Catalog.Graph.Packages() {
		all = append(all, pkg)
	}
	for _, i := range g.Perm(len(all))[:min(n, len(all))] {
		s := r.subscription(all[i])
		ch, ok := all[i].DefaultChannel()
		if ok && g.IntN(3) == 0 {
			var order []graph.Entry
			for e := range ch.Order() {
				order = append(order, e)
			}
			if len(order) > 0 {
				install(&p, &s, order[g.IntN(len(order))])
			}
		}
		p.Subscriptions = append(p.Subscriptions, s)
	}
	return p
}

// Originals returns r without the packages that are copies made by [Tree].
func (r *Requests) Originals() *Requests {
	out := &Requests{Catalog: r.Catalog}
	for _, p := range r.able {
		if !isCopy.MatchString(p.Name()) {
			out.able = append(out.able, p)
		}
	}
	return out
}

var isCopy = regexp.MustCompile(`-c[0-9]+$`)

// Able returns a problem with n random new subscriptions to packages that can be installed by themselves, but not
// necessarily together.
func (r *Requests) Able(seed uint64, n int) resolver.Problem {
	g := rand.New(rand.NewPCG(seed, 0xab1e))
	p := r.problem(n)
	taken := map[int]bool{}
	for len(p.Subscriptions) < min(n, len(r.able)) {
		i := g.IntN(len(r.able))
		if taken[i] {
			continue
		}
		taken[i] = true
		p.Subscriptions = append(p.Subscriptions, r.subscription(r.able[i]))
	}
	return p
}

// Dependent returns a problem with new subscriptions to all packages whose newest bundle has requirements, leaving out
// those that cannot be installed together with the earlier ones.
func (r *Requests) Dependent(ctx context.Context) resolver.Problem {
	some := &Requests{Catalog: r.Catalog}
	for _, p := range r.able {
		ch, ok := p.DefaultChannel()
		if !ok {
			continue
		}
		if head, ok := ch.Head(); ok {
			if b, ok := head.Bundle(); ok && len(slices.Collect(b.Requirements())) > 0 {
				some.able = append(some.able, p)
			}
		}
	}
	return some.Fresh(ctx, len(some.able))
}
