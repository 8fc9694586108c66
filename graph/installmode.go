package graph

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/jsonscan"
	"github.com/olmkit/olmkit/internal/manifest"
	"github.com/olmkit/olmkit/property"
)

// An InstallMode states whether an operator supports a kind of target namespaces.
type InstallMode struct {
	Type      string `json:"type"`
	Supported bool   `json:"supported"`
}

// What a bundleRec records about its install modes.
const (
	modesNone    = iota // it states none
	modesInText         // its text may state some
	modesAreHere        // this plus the sid of their JSON
)

// InstallModes returns the install modes in olm.csv.metadata, or in the
// ClusterServiceVersion among the olm.bundle.object properties, in their order. It
// returns false if the bundle states none.
//
// They are in heavy properties, which a load leaves in the files: InstallModes reads
// the bundle again, as [Bundle.Raw] does. An index that was written with its files
// available has them.
func (b Bundle) InstallModes(ctx context.Context) (list []InstallMode, ok bool, err error) {
	switch modes := b.rec().modes; modes {
	case modesNone:
		return nil, false, nil
	case modesInText:
		raw, err := b.Raw(ctx)
		if err != nil {
			return nil, false, fmt.Errorf("install modes: %w", err)
		}
		list, err = statedModes(ctx, raw)
		return list, list != nil, err
	default:
		if err := json.Unmarshal([]byte(b.c.str(sid(modes-modesAreHere))), &list); err != nil {
			return nil, false, fmt.Errorf("install modes: bundle %q: %w", b.Name(), ErrIndexCorrupt)
		}
		return list, true, nil
	}
}

// statedModes returns the install modes in the text of a bundle, or nil if there are none.
func statedModes(ctx context.Context, raw jsontext.Value) ([]InstallMode, error) {
	list, err := propertiesIn(raw)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if modes := propertyModes(ctx, p.Type, p.Value); modes != nil {
			return modes, nil
		}
	}
	return nil, nil
}

type rawProperty struct {
	Type  string         `json:"type"`
	Value jsontext.Value `json:"value"`
}

// propertiesIn returns the properties in the text of a bundle.
func propertiesIn(raw jsontext.Value) ([]rawProperty, error) {
	var blob struct {
		Properties []rawProperty `json:"properties"`
	}
	err := json.Unmarshal(raw, &blob)
	return blob.Properties, err
}

// propertyModes returns the install modes in the value of a property, or nil if there are
// none.
func propertyModes(ctx context.Context, typ string, value jsontext.Value) []InstallMode {
	switch typ {
	case property.TypeCSVMetadata:
		var list []InstallMode
		if json.Unmarshal(jsonscan.Field(value, "installModes"), &list) == nil {
			return list
		}
	case property.TypeBundleObject:
		return manifestModes(ctx, value)
	}
	return nil
}

// modes records the install modes in the value of a heavy property or, if the value was not
// read, that they may be in the text.
func (b *builder) modes(r *bundleRec, p property.Property, isRead bool) {
	switch {
	case !isRead && r.modes == modesNone:
		r.modes = modesInText
	case isRead && r.modes == modesNone:
		if list := propertyModes(b.ctx, p.Type, jsontext.Value(p.Value)); list != nil {
			text, _ := json.Marshal(list) // it has only strings and booleans
			r.modes = modesAreHere + uint32(b.t.bytes(text))
		}
	}
}

// manifestModes returns the install modes of an olm.bundle.object that contains a
// ClusterServiceVersion. For other objects it returns nil.
func manifestModes(ctx context.Context, value jsontext.Value) []InstallMode {
	text, err := manifest.ClusterServiceVersion(ctx, value)
	if err != nil || text == nil {
		return nil
	}
	var csv struct {
		Spec struct {
			InstallModes []InstallMode `json:"installModes"`
		} `json:"spec"`
	}
	if json.Unmarshal(text, &csv) != nil {
		return nil
	}
	return csv.Spec.InstallModes
}

// withModes returns the records of the catalog, including the install modes from the files.
// There are few distinct modes, so they take little room. If the text of a bundle is not
// available, its modes remain unknown.
func (c *Catalog) withModes(ctx context.Context) (*records, error) {
	list := slices.DeleteFunc(c.byPos(), func(i uint32) bool { return c.bundles[i].modes != modesInText })
	texts, err := c.modesOf(ctx, list)
	if err != nil {
		return nil, err
	}
	out := c.records
	var more strings.Builder
	numbers := map[string]sid{}
	for n, i := range list {
		text := texts[n]
		if text == nil {
			continue // they remain unknown
		}
		if &out.bundles[0] == &c.bundles[0] { // the catalog itself must not change
			out.bundles, out.end = slices.Clone(c.bundles), slices.Clone(c.end)
		}
		if len(text) == 0 {
			out.bundles[i].modes = modesNone
			continue
		}
		id, ok := numbers[string(text)]
		if !ok {
			more.Write(text)
			out.end = append(out.end, c.end[len(c.end)-1]+uint32(more.Len()))
			id = sid(len(out.end) - 1)
			numbers[string(text)] = id
		}
		out.bundles[i].modes = modesAreHere + uint32(id)
	}
	if more.Len() > 0 {
		out.table = newTable(c.text()+more.String(), out.end)
	}
	return &out, nil
}

// modesOf returns the install modes of bundles as JSON, which is empty if there are none and
// nil if the text of the bundle is not available.
func (c *Catalog) modesOf(ctx context.Context, list []uint32) ([][]byte, error) {
	out := make([][]byte, len(list))
	// Each goroutine reads a part of the list in order. The error is that of the first bundle
	// that has one, whatever the number of goroutines.
	parts := make([]error, min(runtime.GOMAXPROCS(0), len(list)))
	var work sync.WaitGroup
	for p := range parts {
		work.Go(func() {
			for n := p * len(list) / len(parts); n < (p+1)*len(list)/len(parts) && parts[p] == nil; n++ {
				out[n], parts[p] = Bundle{c, list[n]}.modesText(ctx)
			}
		})
	}
	work.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, err := range parts {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (b Bundle) modesText(ctx context.Context) ([]byte, error) {
	modes, ok, err := b.InstallModes(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, fbc.ErrNoSource):
		return nil, nil
	case err != nil:
		return nil, err
	case !ok:
		return []byte{}, nil
	}
	return json.Marshal(modes)
}

// byPos returns the numbers of the bundles in the order of their positions, in which files
// that cannot seek are read fastest.
func (c *Catalog) byPos() []uint32 {
	list := make([]uint32, len(c.bundles))
	for i := range list {
		list[i] = uint32(i)
	}
	slices.SortStableFunc(list, func(a, b uint32) int { return Bundle{c, a}.Pos().Compare(Bundle{c, b}.Pos()) })
	return list
}
