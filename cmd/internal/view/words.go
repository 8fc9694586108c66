package view

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/manifest"
	"github.com/olmkit/olmkit/property"
)

// The maximum lengths of a package's texts in a page, in characters.
const (
	maxTitle    = 100
	maxSummary  = 300
	maxAbout    = 1200
	maxKeyword  = 40
	maxKeywords = 20
)

// words describe an operator in user interfaces. Resolution never reads them.
type words struct {
	title, summary, about, provider string
	keywords                        []string
}

// A wordReader reads the words of a catalog. It reads them from the files, which is slow, so it reads only those of
// each package and of the heads of its channels.
type wordReader struct {
	ctx context.Context
	// absent reports that the catalog has no files to read words from.
	absent bool
	faults []error
}

// raw returns text, and whether it could be read. The error is that of the context; raw records any other error in r.
func (r *wordReader) raw(text jsontext.Value, err error) (jsontext.Value, bool, error) {
	switch {
	case err == nil:
		return text, true, nil
	case r.ctx.Err() != nil:
		return nil, false, context.Cause(r.ctx)
	case errors.Is(err, fbc.ErrNoSource):
		r.absent = true
	default:
		r.faults = append(r.faults, err)
	}
	return nil, false, nil
}

// about returns the description in the olm.package blob.
func (r *wordReader) about(p graph.Package) (string, error) {
	if r.absent || !p.Pos().IsValid() {
		return "", nil
	}
	text, ok, err := r.raw(p.Raw(r.ctx))
	if !ok {
		return "", err
	}
	var blob struct {
		Description string `json:"description"`
	}
	if err := json.Unmarshal(text, &blob); err != nil {
		r.faults = append(r.faults, err)
		return "", nil
	}
	return shortened(blob.Description, maxAbout), nil
}

// of returns the texts about a bundle.
func (r *wordReader) of(b graph.Bundle) (words, error) {
	if r.absent {
		return words{}, nil
	}
	text, ok, err := r.raw(b.Raw(r.ctx))
	if !ok {
		return words{}, err
	}
	var blob struct {
		Properties []struct {
			Type  string         `json:"type"`
			Value jsontext.Value `json:"value"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(text, &blob); err != nil {
		r.faults = append(r.faults, err)
		return words{}, nil
	}
	for _, p := range blob.Properties {
		var csv csvWords
		switch p.Type {
		case property.TypeCSVMetadata:
			if json.Unmarshal(p.Value, &csv) == nil {
				return csv.words(), nil
			}
		case property.TypeBundleObject:
			// Olmkit validate reports invalid manifests.
			text, err := manifest.ClusterServiceVersion(r.ctx, p.Value)
			if err != nil || text == nil {
				continue
			}
			var object struct {
				Metadata struct {
					Annotations annotationWords `json:"annotations"`
				} `json:"metadata"`
				Spec csvWords `json:"spec"`
			}
			if json.Unmarshal(text, &object) == nil {
				object.Spec.Annotations = object.Metadata.Annotations
				return object.Spec.words(), nil
			}
		}
	}
	return words{}, nil
}

// csvWords has the display fields of olm.csv.metadata and of the spec of a ClusterServiceVersion.
type csvWords struct {
	DisplayName string   `json:"displayName"`
	Description string   `json:"description"`
	Keywords    []string `json:"keywords"`
	Provider    struct {
		Name string `json:"name"`
	} `json:"provider"`
	Annotations annotationWords `json:"annotations"`
}

type annotationWords struct {
	Description string `json:"description"`
}

func (c *csvWords) words() words {
	w := words{
		title:    phrase(c.DisplayName, maxTitle),
		summary:  phrase(c.Annotations.Description, maxSummary),
		about:    shortened(c.Description, maxAbout),
		provider: phrase(c.Provider.Name, maxTitle),
	}
	for _, k := range c.Keywords {
		if k = phrase(k, maxKeyword); k != "" && len(w.keywords) < maxKeywords && !slices.Contains(w.keywords, k) {
			w.keywords = append(w.keywords, k)
		}
	}
	return w
}

// addWords adds the words of the package. They come from the head of its default channel, as in OLM's user interfaces,
// or else from the first other head that has words. Heads whose words differ get their own.
func (b *pkgBuilder) addWords(r *wordReader) error {
	about, err := r.about(b.pkg)
	if err != nil {
		return err
	}
	said := map[int]words{} // of heads; never ranged over
	var heads []int
	for _, ch := range b.byDefault() {
		for _, i := range ch.Heads {
			x, ok := b.pkg.Bundle(b.nodes[i].Name)
			if _, known := said[i]; known || !ok {
				continue
			}
			if said[i], err = r.of(x); err != nil {
				return err
			}
			heads = append(heads, i)
		}
	}
	var own words
	if at := slices.IndexFunc(heads, func(i int) bool { return said[i].title != "" || said[i].summary != "" || said[i].about != "" }); at >= 0 {
		own = said[heads[at]]
	}
	d := &b.data
	d.Title, d.Summary, d.Provider, d.Keywords = own.title, own.summary, own.provider, own.keywords
	// Prefer the description of the package to that of its head.
	d.About = cmp.Or(about, own.about)
	if short := phrase(d.About, maxSummary); d.Summary == "" && short == d.About {
		d.Summary = short // show the description itself as the summary, because it is only one short line
	}
	if d.About == d.Summary {
		d.About = ""
	}
	for _, i := range heads {
		if w := said[i]; w.title != "" && w.title != own.title {
			d.Nodes[i].Title = w.title
		}
		if w := said[i]; w.summary != "" && w.summary != own.summary {
			d.Nodes[i].Summary = w.summary
		}
	}
	return nil
}

// byDefault returns the channels in order, but with the default one first.
func (b *pkgBuilder) byDefault() []channelData {
	list := slices.Clone(b.data.Channels)
	slices.SortStableFunc(list, func(x, y channelData) int {
		switch {
		case x.Name == y.Name:
			return 0
		case x.Name == b.data.Default:
			return -1
		case y.Name == b.data.Default:
			return 1
		}
		return 0
	})
	return list
}

// phrase returns a text as one line of at most most characters.
func phrase(s string, most int) string { return cut(strings.Join(strings.Fields(s), " "), most) }

// shortened returns a text of at most most characters, with its paragraphs.
func shortened(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s)
	var b strings.Builder
	blank := 0
	for line := range strings.Lines(strings.TrimSpace(s)) {
		line = strings.TrimRight(line, " \n")
		if line == "" {
			blank++
			continue
		}
		if b.Len() > 0 {
			b.WriteString(strings.Repeat("\n", min(blank, 1)+1))
		}
		b.WriteString(line)
		blank = 0
	}
	return cut(b.String(), most)
}

// cut shortens a text to most characters, and ends it with an ellipsis if it was longer.
func cut(s string, most int) string {
	n, end := 0, 0 // the start of the character that the ellipsis replaces
	for i := range s {
		if n++; n == most {
			end = i
		} else if n > most {
			return strings.TrimRight(s[:end], " \n") + "…"
		}
	}
	return s
}
