package document_test

import (
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// A stream continues after an invalid document. The error has the number of the document
// and the JSON pointer of the fault.
func ExampleRead() {
	const stream = `
		{"id": "a", "namespace": "operators", "subscriptions": [{"package": "etcd"}]}
		{"id": "b", "namespace": "operators", "subscriptions": [{"pakage": "etcd"}]}
		{"id": "c", "namespace": "operators"}`
	for p, err := range document.Read[resolver.Problem](strings.NewReader(stream)) {
		fmt.Println(p.ID, err)
	}
	// Output:
	// a <nil>
	// b problem: document 2: /subscriptions/0/pakage: unknown field; did you mean package?
	// c <nil>
}
