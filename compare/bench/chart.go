package main

import (
	"fmt"
	"math"
	"strings"
)

// drawChart returns a chart of cost by size, both on logarithmic scales.
func drawChart(points []point) string {
	const left, top, width, height = 70, 20, 560, 340
	lowX, highX, lowY, highY := 3.0, 6.0, -2.0, 5.0
	x := func(bundles int) float64 {
		return left + (math.Log10(float64(bundles))-lowX)/(highX-lowX)*width
	}
	y := func(ms float64) float64 { return top + height - (math.Log10(ms)-lowY)/(highY-lowY)*height }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-14 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", left+width+184, top+height+50)
	fmt.Fprintf(&b, `<title>Cost against the size of the catalog</title><rect x="-14" width="100%%" height="100%%" fill="#fff"/>`+"\n")
	for e := lowX; e <= highX; e++ {
		at := left + (e-lowX)/(highX-lowX)*width
		fmt.Fprintf(&b, `<path d="M%.1f %dV%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%.0f</text>`+"\n", at, top, top+height, at, top+height+18, math.Pow(10, e))
	}
	for e := lowY; e <= highY; e++ {
		at := y(math.Pow(10, e))
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g ms</text>`+"\n", left, at, left+width, left-6, at+4, math.Pow(10, e))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">bundles in the catalog</text>`+"\n", left+width/2, top+height+40)
	for _, s := range []struct {
		name, color string
		of          func(point) float64
	}{
		{"opm loads", "#c0392b", func(p point) float64 { return p.peerLoad }},
		{"olmkit loads JSON", "#2471a3", func(p point) float64 { return p.load }},
		{"OLM resolves 10", "#e67e22", func(p point) float64 { return p.peerResolve }},
		{"olmkit opens an index", "#17a589", func(p point) float64 { return p.open }},
		{"olmkit resolves 10", "#1e8449", func(p point) float64 { return p.resolve }},
	} {
		var path, dots strings.Builder
		var lastX, lastY float64
		for _, p := range points {
			ms := s.of(p)
			if ms <= 0 {
				continue
			}
			op := "L"
			if path.Len() == 0 {
				op = "M"
			}
			lastX, lastY = x(p.bundles), y(ms)
			fmt.Fprintf(&path, "%s%.1f %.1f", op, lastX, lastY)
			fmt.Fprintf(&dots, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, lastX, lastY, s.color)
		}
		if path.Len() > 0 {
			fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>%s<text x="%.1f" y="%.1f" fill="%s">%s</text>`+"\n",
				path.String(), s.color, dots.String(), lastX+8, lastY+4, s.color, s.name)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}
