package fbc

import (
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/codes"
)

// TestControlCharacters checks that names with control characters are errors
// (A16), and that the errors do not contain the characters.
func TestControlCharacters(t *testing.T) {
	for _, c := range []struct{ text, path string }{
		{`{"schema":"x\u001b[2K"}`, "/schema"},
		{`{"schema":"x","name":"a\u009b2K"}`, "/name"},
		{`{"schema":"x","package":"a\n"}`, "/package"},
		{`{"schema":"olm.package","name":"a\u001b[2K"}`, "/name"},
		{`{"schema":"olm.package","name":"a","defaultChannel":"a\u007f"}`, "/defaultChannel"},
		{`{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a"},{"name":"b","skips":["a\u001b"]}]}`, "/entries/1"},
		{`{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a\u001b"}]}`, "/entries/0"},
		{`{"schema":"olm.bundle","package":"a","name":"b","image":"q\u0000"}`, "/image"},
		{`{"schema":"olm.bundle","package":"a","name":"b","image":"q","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1\u001b"}}]}`, "/properties/0/value"},
		{`{"schema":"olm.deprecations","package":"a","entries":[{"reference":{"schema":"olm.bundle","name":"\u001b"},"message":"m"}]}`, "/entries/0/reference"},
		{`{"schema":"olm.package","name":"é","description":"two\nlines"}`, ""},
	} {
		_, err := LoadReader(t.Context(), strings.NewReader(c.text), "c.json", nil)
		if c.path == "" {
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
			}
			continue
		}
		var found Diagnostics
		if !errors.As(err, &found) || len(found) != 1 || found[0].Code != codes.ControlCharacter || found[0].Path != c.path {
			t.Errorf("%s: got %v, want a fault at %s", c.text, err, c.path)
		} else if strings.ContainsAny(err.Error(), "\x1b\x7f\u009b\n") {
			t.Errorf("%s: the error is %q", c.text, err)
		}
	}
}

// TestKeyOfMap checks the errors for keys that are not strings.
func TestKeyOfMap(t *testing.T) {
	_, err := LoadReader(t.Context(), strings.NewReader("schema: x\n? [a]\n: b\n"), "c.yaml", nil)
	if err == nil || !strings.Contains(err.Error(), "keys must be strings") || strings.Contains(err.Error(), "interface") {
		t.Errorf("got %v", err)
	}
}
