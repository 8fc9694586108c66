package crd

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/olmkit/olmkit/olm"
)

// The API server's defaults do not make two definitions differ.
func TestSameCRD(t *testing.T) {
	const said = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"a.example.com"},"spec":{"group":"example.com","names":{"kind":"A","plural":"as"}}}`
	for _, test := range []struct {
		name, has string
		want      bool
	}{
		{"filled in", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"a.example.com"},"spec":{"conversion":{"strategy":"None"},"group":"example.com","names":{"kind":"A","listKind":"AList","plural":"as","singular":"a"}}}`, true},
		{"another conversion", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"a.example.com"},"spec":{"conversion":{"strategy":"Webhook"},"group":"example.com","names":{"kind":"A","plural":"as"}}}`, false},
	} {
		var a, b olm.Object
		if err := errors.Join(json.Unmarshal([]byte(said), &a), json.Unmarshal([]byte(test.has), &b)); err != nil {
			t.Fatal(err)
		}
		if got, err := sameCRD(a, b); err != nil || got != test.want {
			t.Errorf("%s: got %v, %v, want %v", test.name, got, err, test.want)
		}
	}
}
