package fbc

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/fbc/internal/decode"
)

// FuzzLoad checks that no text makes a load panic, and that neither the size of
// buffers, the reader nor concurrency changes its result (A1, A3, D18).
func FuzzLoad(f *testing.F) {
	f.Add(pkgA+channel+bundle, uint8(7))
	f.Add(decode.BOM+"# c\n---\nschema: x\nname: a\n...\n{\"schema\":'y'}\n{schema: z, a: [1, 2]}", uint8(1))
	f.Add("%YAML 1.1\n---\na: &a [1]\nschema: x\nb: *a\nb: 2\n", uint8(3))
	f.Add("{\"schema\":\"olm.bundle\",\"package\":\"a\",\"properties\":[null,{\"type\":\"olm.gvk\"},{\"type\":1}],\"entries\":3}\x00", uint8(9))
	f.Add("schema: olm.channel\r\nentries:\r\n- {name: a, skips: [b]}\r---\n", uint8(2))
	for _, text := range wrongGuesses {
		f.Add(text, uint8(5))
	}
	limits := &Limits{DocumentSize: 1 << 16, Depth: 100, Documents: 1000, PropertySize: 1 << 10, Diagnostics: 20}
	f.Fuzz(func(t *testing.T, text string, chunk uint8) {
		want, wantErr := LoadReader(context.Background(), strings.NewReader(text), "f", &LoadOptions{Limits: limits, Concurrency: 1})
		for i, opts := range []*LoadOptions{
			{Limits: limits, Concurrency: 1, chunk: 1 + int(chunk)},
			{Limits: limits, Concurrency: 3, chunk: 1 + int(chunk)*5},
			{Limits: limits, Concurrency: 3, chunk: 1 + int(chunk)}, // can be read again, so it guesses
		} {
			var r io.Reader = strings.NewReader(text)
			if i < 2 {
				r = iotest.OneByteReader(r)
			}
			got, err := LoadReader(context.Background(), r, "f", opts)
			if errText(err) != errText(wantErr) {
				t.Fatalf("buffers of %d:\n%v\nwhole:\n%v", opts.chunk, err, wantErr)
			}
			if err == nil {
				if diff := cmp.Diff(want, got, sameCatalog); diff != "" {
					t.Fatalf("buffers of %d (-whole +got):\n%s", opts.chunk, diff)
				}
			}
		}
		if wantErr != nil {
			return
		}
		// Everything can be read again and equals the values that KeepAll
		// keeps.
		all, err := LoadReader(context.Background(), strings.NewReader(text), "f", &LoadOptions{Limits: limits, KeepAll: true})
		if err != nil {
			return // skipped values are not checked
		}
		for i, m := range metas(want) {
			raw, err := want.Raw(context.Background(), m)
			if err != nil {
				t.Fatal(err)
			}
			if kept := metas(all)[i].Raw; string(raw) != string(kept) {
				t.Fatalf("Raw %s, kept %s", raw, kept)
			}
		}
	})
}
