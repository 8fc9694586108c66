package constraints

import (
	"fmt"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/property"
)

const colorRule = `properties.exists(p, p.type == 'color' && p.value == 'red')`

func BenchmarkParse(b *testing.B) {
	for _, bb := range []struct{ name, raw string }{
		{"gvk", documented[3].raw},
		{"nested", documented[5].raw},
		{"cel, known rule", documented[0].raw},
		{"64 KiB of constraints", wide(1000)},
		{"64 KiB of message", padded(65536)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			c := NewCompiler(nil)
			b.ReportAllocs()
			b.SetBytes(int64(len(bb.raw)))
			for b.Loop() {
				if _, err := c.Parse([]byte(bb.raw)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFromProperty(b *testing.B) {
	c := NewCompiler(nil)
	for _, p := range []property.Property{
		property.New(property.TypeGVKRequired, property.GVK{Group: "etcd.database.coreos.com", Version: "v1beta2", Kind: "EtcdCluster"}),
		property.New(property.TypePackageRequired, property.PackageRequired{PackageName: "etcd", VersionRange: ">=0.9.0 <1.0.0"}),
		property.New(property.TypePackage, property.Package{PackageName: "etcd", Version: "0.9.4"}),
	} {
		b.Run(p.Type, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := c.FromProperty(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.Run("environment", func(b *testing.B) {
		for b.Loop() {
			if _, err := NewCompiler(nil).env(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("rule", func(b *testing.B) {
		c := NewCompiler(nil)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := c.Rule(fmt.Sprintf("%s || %d == 0", colorRule, i)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEvaluate(b *testing.B) {
	var many []property.Property
	for i := range 40 {
		many = append(many, property.Property{Type: fmt.Sprint("t", i), Value: []byte(`{"group":"g.io","version":"v1"}`)})
	}
	list := NewPropertyList(append(etcd, many...), nil)
	c := NewCompiler(nil)
	limits := &Limits{MaxTotalCost: 1 << 62}
	for _, bb := range []struct{ name, raw string }{
		{"package", `{"package":{"packageName":"etcd","versionRange":">=0.9.0 <1.0.0"}}`},
		{"gvk", leaf},
		{"cel, remembered", rule(colorRule)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			x, err := c.Parse([]byte(bb.raw))
			if err != nil {
				b.Fatal(err)
			}
			eval := NewEvaluator(Cluster{}, limits)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := eval.Satisfies(b.Context(), x, list); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, bb := range []struct{ name, rule string }{
		{"cel, 47 properties", `properties.exists(p, p.type == 'shape' && p.value == 'red')`},
		{"cel, two deep", `properties.all(a, properties.all(b, a.type != '' && b.type != ''))`},
		{"cel, four deep until MaxCost", `properties.all(a, properties.all(b, properties.all(c, properties.all(d, true))))`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			x, err := c.Rule(bb.rule)
			if err != nil {
				b.Fatal(err)
			}
			eval := NewEvaluator(Cluster{}, limits)
			vals := list.Values()
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				_, _ = eval.rule(b.Context(), x, vals, false)
				n++
			}
			b.ReportMetric(float64(eval.spent.Load())/float64(n), "cost/op")
		})
	}
	b.Run("decode 47 properties", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewValues(list.Properties())
		}
	})
}

func BenchmarkRange(b *testing.B) {
	const text = ">=1.0.0 <2.0.0 !1.5.0 || 3.x"
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseRange(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("contains", func(b *testing.B) {
		r, err := ParseRange(text)
		if err != nil {
			b.Fatal(err)
		}
		v := semver.MustParse("3.4.5")
		b.ReportAllocs()
		for b.Loop() {
			r.Contains(v)
		}
	})
}
