package jsonkind_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/olmkit/olmkit/internal/jsonkind"
)

// The name of a JSON kind is the name of the Go type that it decodes to.
func TestNames(t *testing.T) {
	for text, v := range map[string]any{
		`""`: "", `true`: new(bool), `1`: 1.5, `0`: int64(1), `[]`: []string{}, `{}`: struct{}{}, ` {"a": 1}`: map[string]int{},
	} {
		kind := jsontext.Value(text).Kind()
		if got, want := jsonkind.Name(kind), jsonkind.Of(reflect.TypeOf(v)); got != want {
			t.Errorf("%s is %s, %T is %s", text, got, v, want)
		}
	}
	for _, x := range []struct{ got, want string }{
		{jsonkind.Name('n'), "null"}, {jsonkind.Name(0), jsonkind.Nothing}, {jsonkind.Name(jsontext.Value("x").Kind()), jsonkind.Nothing},
		{jsonkind.Of(reflect.TypeFor[*time.Time]()), "a time"}, {jsonkind.Of(nil), "another type"}, {jsonkind.Of(reflect.TypeFor[func()]()), "another type"},
	} {
		if x.got != x.want {
			t.Errorf("got %q, want %q", x.got, x.want)
		}
	}
}
