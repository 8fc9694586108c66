package document_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// TestReadContinues reads streams with text that is not JSON.
func TestReadContinues(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a broken line", "{\"id\":\"a\"}\n{\"id\":\"b\", broken\n{\"id\":\"c\"}\n", "a, line 2, c"},
		{"an open object", "{\"id\":\"a\"}\n{\"id\":\"b\",\n{\"id\":\"c\"}\n", "a, line 3, c"},
		{"no object", "\n\nnonsense\n\n{\"id\":\"a\"}\n!\n{\"id\":\"c\"}", "line 3, a, line 6, c"},
		{"a document of several lines", "{\n  \"id\": \"a\",\n  !\n}\n{\n  \"id\": \"b\"\n}\n", "line 3, b"},
		{"the end", "{\"id\":\"a\"}\n{\"id\":", "a, line 2"},
		{"a long line", "{\"id\":" + strings.Repeat("x", 100_000) + "\n{\"id\":\"b\"}\n", "line 1, b"},
		{"a name twice", "{\"id\":\"a\",\"id\":\"b\"}\n{\"id\":\"c\"}\n", "appears twice in one object; keep one, c"},
	} {
		for _, r := range []io.Reader{strings.NewReader(test.text), iotest.OneByteReader(strings.NewReader(test.text))} {
			var got []string
			for p, err := range document.Read[resolver.Problem](r) {
				var invalid *document.Error
				switch {
				case err == nil:
					got = append(got, p.ID)
				case errors.As(err, &invalid):
					text, _, _ := strings.Cut(strings.TrimPrefix(invalid.Err.Error(), "invalid JSON on "), ":")
					got = append(got, text)
				default:
					got = append(got, fmt.Sprint(err))
				}
			}
			if text := strings.Join(got, ", "); text != test.want {
				t.Errorf("%s: got %s, want %s", test.name, text, test.want)
			}
		}
	}
	broken := io.MultiReader(strings.NewReader("{\"id\":\"a\"}\n!\n"), iotest.ErrReader(io.ErrClosedPipe))
	last := error(nil)
	for _, err := range document.Read[resolver.Problem](broken) {
		last = err
	}
	if !errors.Is(last, io.ErrClosedPipe) {
		t.Error(last)
	}
}
