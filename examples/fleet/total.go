package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// A total counts answers.
type total struct {
	Files     int // that were answered
	Kept      int // that an earlier run or another worker had answered
	Solutions int
	Conflicts int
	Errors    int // problems that are invalid
}

func init() { beam.RegisterType(reflect.TypeFor[total]()) }

func add(t, u total) total {
	return total{t.Files + u.Files, t.Kept + u.Kept, t.Solutions + u.Solutions, t.Conflicts + u.Conflicts, t.Errors + u.Errors}
}

func text(t total) string {
	return fmt.Sprintf("%d files answered, %d kept: %d solutions, %d conflicts, %d errors", t.Files, t.Kept, t.Solutions, t.Conflicts, t.Errors)
}

func (t *total) count(ok bool, failure string) {
	switch {
	case ok:
		t.Solutions++
	case failure != "":
		t.Errors++
	default:
		t.Conflicts++
	}
}

// write writes and counts an answer.
func (t *total) write(out *json.Encoder, a answer) error {
	t.count(a.OK, a.Error)
	return out.Encode(a)
}

// recount returns the total of a file that exists.
func recount(answers []byte) (total, error) {
	t := total{Kept: 1}
	for in := json.NewDecoder(bytes.NewReader(answers)); ; {
		var a struct {
			OK    bool
			Error string
		}
		switch err := in.Decode(&a); err {
		case nil:
			t.count(a.OK, a.Error)
		case io.EOF:
			return t, nil
		default:
			return t, err
		}
	}
}
