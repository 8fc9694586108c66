package fbc

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// wrongGuesses lists texts in which lines that begin with a brace do not show where documents
// begin and end.
var wrongGuesses = []string{
	`{"schema":"a"}{"schema":"b"}` + "\n" + `{"schema":"c"}`,
	"{\"schema\":\"a\",\"x\":\n{\"schema\":\"b\"}\n}\n{\"schema\":\"c\"}\n",
	"{\"schema\":\"a\"}\n---\nschema: b\n---\n{\"schema\":\"c\"}\n",
	"{\"schema\":\"a\"}\n# c\n{\"schema\":\"b\"}",
	"{\"schema\":\"a\"}\n{schema: b,\n a: 'it''s'}\n{\"schema\":\"c\"}",
	"{\"schema\":\"a\"}\n{\"schema\":\"b\",\"schema\":\"c\"}\n{\"schema\":\"d\"}",
	"{\"schema\":\"a\"}\n{\"schema\":\"b\n\"}\n{\"schema\":\"c\"}",
	"{\"schema\":\"a\"}\n{\"schema\":\"\xff\"}\n{\"schema\":\"c\"}",
	"{\"schema\":\"a\"}\n{\"schema\":\"b\"",
}

// TestGuess compares loads that guess where JSON documents end with loads that look (A3): they
// return the same blobs at the same places, the same faults and the same progress.
func TestGuess(t *testing.T) {
	first := pkgA + "\n" + channel + "\n" + bundle + "\n"
	for _, text := range append([]string{strings.Repeat(`{"schema":"x"}`+"\n", 50), strings.Repeat(`{"schema":"x"}`, 50)}, wrongGuesses...) {
		for _, limits := range []*Limits{nil, {Documents: 3}, {Documents: 5}, {DocumentSize: 200}, {Diagnostics: 1}} {
			tree := fstest.MapFS{}
			for i, s := range []string{first, text, text, strings.ReplaceAll(first, "\n{", "{")} {
				s = strings.ReplaceAll(s, `"a"`, fmt.Sprintf(`"a%d"`, i))
				tree[fmt.Sprintf("f%d.json", i)] = &fstest.MapFile{Data: []byte(s)}
			}
			load := func(opts LoadOptions) (string, *Catalog, []*Meta, Progress) {
				var p Progress
				opts.Limits, opts.Progress = limits, func(x Progress) { p = x }
				c, err := Load(context.Background(), tree, &opts)
				if c == nil {
					return errText(err), c, nil, p
				}
				return errText(err), c, metas(c), p
			}
			for _, keep := range []bool{false, true} {
				wantErr, want, places, progress := load(LoadOptions{Concurrency: 1, KeepAll: keep})
				for _, chunk := range []int{1, 7, 64, 1000} {
					gotErr, got, at, p := load(LoadOptions{Concurrency: 3, KeepAll: keep, chunk: chunk})
					if gotErr != wantErr {
						t.Fatalf("%q with %+v: got\n%s\nwant\n%s", text, limits, gotErr, wantErr)
					}
					if want == nil {
						continue
					}
					if diff := cmp.Diff(want, got, sameCatalog); diff != "" || p != progress {
						t.Fatalf("%q with %+v: progress %v, want %v; catalog (-want +got):\n%s", text, limits, p, progress, diff)
					}
					for i, m := range places {
						if m.Pos != at[i].Pos || m.from.offset != at[i].from.offset || m.from.length != at[i].from.length {
							t.Fatalf("%q: blob %d is at %v, want %v", text, i, at[i], m)
						}
					}
				}
			}
		}
	}
}
