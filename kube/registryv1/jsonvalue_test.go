package registryv1

import (
	"reflect"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// FuzzDecodeObject compares decodeObject with Kubernetes' util/json.
func FuzzDecodeObject(f *testing.F) {
	for _, text := range []string{
		`{}`, ` {"a" : [ ] } `, `{"a":1,"a":{"b":-0,"c":1.0,"d":1e3,"e":12345678901234567890,"f":9223372036854775807,"g":-9223372036854775808}}`,
		`{"a":"\u00e9\n\"\\","b":"é","c":[true,false,null,""],"long":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`, "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}",
		`[]`, `null`, `1`, `{`, `{"a":01}`, `{"a":+1}`, `{"a":1e400}`, `{"a":-}`, `{"a":1}x`, `{"a":tru}`, `{,}`, `{"a":1,}`, `{"a":[1,]}`, `{"a" 1}`, "{\"a\":\"\t\"}", `{"a":"\"}`, `{1:2}`, `{"a":`, `{"a":"b`, "", "{\"a\\u0062\":1}\n", "{}\x00",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want map[string]any
		wantErr := utiljson.Unmarshal(text, &want)
		got, err := decodeObject(text)
		if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %#v, %v; want %#v, %v", text, got, err, want, wantErr)
		}
	})
}
