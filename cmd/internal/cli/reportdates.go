package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/lazyregexp"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/property"
)

// The releases of a package are its bundles with a date.
type releases struct {
	// Dated is the number of versions with a date that can be read.
	Dated int            `json:"dated"`
	First lifecycle.Date `json:"first,omitempty"`
	Last  lifecycle.Date `json:"last,omitempty"`
	// Interval is the median number of days between releases on different days. It is absent
	// if there are less than two.
	Interval *int `json:"interval,omitempty"`
	// Age is the number of days since the last release, if a day was given. It is negative for
	// a date after that day.
	Age *int `json:"age,omitempty"`
}

// text returns the releases in a sentence, or "" if no bundle has a date.
func (r *releases) text() string {
	if r.Dated == 0 {
		return ""
	}
	text := fmt.Sprintf("%s from %s to %s", phrase.Count(r.Dated, "dated release"), r.First, r.Last)
	if r.First == r.Last {
		text = fmt.Sprintf("%s on %s", phrase.Count(r.Dated, "dated release"), r.Last)
	}
	if r.Interval != nil {
		text += fmt.Sprintf(", typically %s apart", phrase.Count(*r.Interval, "day"))
	}
	if r.Age != nil && *r.Age >= 0 {
		text += fmt.Sprintf("; the last one is %s old", phrase.Count(*r.Age, "day"))
	}
	return text
}

// A datedBundle is a bundle with its date.
type datedBundle struct {
	Name string         `json:"name"`
	Date lifecycle.Date `json:"date"`
}

// laterDated returns the bundle with the latest date that the head of the default channel replaces, directly or
// not, if it is later than that of the head.
func laterDated(p graph.Package, dates map[string]lifecycle.Date) (found *datedBundle) {
	ch, _ := p.DefaultChannel()
	head, ok := ch.Head()
	if !ok || dates[head.Name()] == "" {
		return nil
	}
	replaces := map[string]string{}
	for e := range ch.Entries() {
		replaces[e.Name()] = e.Replaces()
	}
	latest, seen := dates[head.Name()], map[string]bool{}
	for name := head.Name(); name != "" && !seen[name]; name = replaces[name] {
		if seen[name] = true; dates[name] > latest {
			latest = dates[name]
			found = &datedBundle{name, latest}
		}
	}
	return found
}

// dates returns the dates of a package in a sentence, or "" if no bundle has one.
func (q *packageQuality) dates() string {
	text := q.Releases.text()
	if wrong := q.headDate(); wrong != "" {
		text += "; " + wrong
	}
	return text
}

// headDate states why the date of the head is not shown, or returns "".
func (q *packageQuality) headDate() string {
	f := q.Head.Follows
	if f == nil {
		return ""
	}
	return fmt.Sprintf("createdAt of %s (%s) is before that of %s (%s), which it follows; one of them is wrong", q.Head.Name, q.Head.Date, f.Name, f.Date)
}

// releasesOf returns the releases on some dates. On may be empty.
func releasesOf(dates []lifecycle.Date, on lifecycle.Date) releases {
	out := releases{Dated: len(dates)}
	if len(dates) == 0 {
		return out
	}
	dates = slices.Clone(dates)
	slices.Sort(dates)
	dates = slices.Compact(dates)
	out.First, out.Last = dates[0], dates[len(dates)-1]
	var gaps []int
	for i := 1; i < len(dates); i++ {
		gaps = append(gaps, days(dates[i-1], dates[i]))
	}
	if len(gaps) > 0 {
		slices.Sort(gaps)
		out.Interval = &gaps[len(gaps)/2]
	}
	if on != "" {
		age := days(out.Last, on)
		out.Age = &age
	}
	return out
}

// days returns the number of days between two valid dates.
func days(from, to lifecycle.Date) int {
	a, _ := time.Parse(time.DateOnly, string(from))
	b, _ := time.Parse(time.DateOnly, string(to))
	return int(b.Sub(a).Hours() / 24)
}

// annotations has the annotations of a CSV, or of its excerpt in a catalog.
type annotations struct {
	Kind        string            `json:"kind"`
	Annotations map[string]string `json:"annotations"`
	Metadata    struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
}

// created returns the day on which a bundle was created, or "" if it is not known.
func created(b *fbc.Bundle, content *readBundle) lifecycle.Date {
	const key = "createdAt"
	if content != nil && content.err == nil && content.Bundle.Bundle != nil {
		return dateOf(content.CSV().Annotations[key])
	}
	for _, p := range b.Properties {
		var a annotations
		switch p.Type {
		case property.TypeCSVMetadata:
			if json.Unmarshal(p.Value, &a) == nil {
				return dateOf(a.Annotations[key])
			}
		case property.TypeBundleObject:
			var value struct {
				Data []byte `json:"data"`
			}
			if json.Unmarshal(p.Value, &value) == nil && yaml.Unmarshal(value.Data, &a) == nil && a.Kind == "ClusterServiceVersion" {
				return dateOf(a.Metadata.Annotations[key])
			}
		}
	}
	return ""
}

// yearFirst matches the start of dates such as "2024-02-20T00:00:00Z", "2024-2-20 10:00" and
// "20240220". In other orders of numbers, the day and the month cannot be distinguished.
var yearFirst = lazyregexp.New(`^(\d{4})(?:-(\d{1,2})-(\d{1,2})(?:[T: ].*)?|(\d\d)(\d\d))$`)

// dateOf reads the day of the annotation createdAt, which has no fixed format.
func dateOf(text string) lifecycle.Date {
	text = strings.TrimSpace(text)
	var t time.Time
	var err error
	if m := yearFirst().FindStringSubmatch(text); m != nil {
		t, err = time.Parse("2006-1-2", m[1]+"-"+m[2]+m[4]+"-"+m[3]+m[5])
	} else {
		t, err = time.Parse(time.UnixDate, strings.Join(strings.Fields(text), " ")) // as the command date prints it
	}
	if err != nil {
		return ""
	}
	return lifecycle.Date(t.Format(time.DateOnly))
}
