package cli

import (
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/olmv1"
	"github.com/olmkit/olmkit/resolver/platform"
	"github.com/olmkit/olmkit/resolver/subset"
)

// A Document is a kind of JSON document that commands read or print.
type Document struct {
	// Name is the name of its schema in docs/schema.
	Name string
	// Title is what it is.
	Title string
	// Type is a value of its type. Fields of the type Is, where it is not nil, are the
	// documented ones of an embedded copy.
	Type, Is any
	// Read is set for documents that programs write.
	Read bool
}

// Documents returns the kinds of documents that have a schema.
func Documents() []Document {
	return []Document{
		{Name: "problem", Title: "A problem for olmkit resolve", Type: resolver.Problem{}, Read: true},
		{Name: "answer", Title: "An answer of olmkit resolve", Type: answer{}},
		{Name: "report", Title: "The explanation of a conflict, by olmkit explain", Type: resolver.Report{}},
		{Name: "record", Title: "A problem with its answer, for olmkit replay", Type: resolver.Record{}, Read: true},
		{Name: "request", Title: "A request for olmkit select", Type: olmv1.Request{}, Read: true},
		{Name: "selection", Title: "A selection of olmkit select", Type: olmv1.Selection{}},
		{Name: "refusal", Title: "A refusal of olmkit select", Type: olmv1.Refusal{}},
		{Name: "platform-problem", Title: "A problem for olmkit platform", Type: platform.Problem{}, Read: true},
		{Name: "platform-plan", Title: "A plan of olmkit platform", Type: platform.Plan{}},
		{Name: "subset-request", Title: "A request for a part of a catalog", Type: subset.Request{}, Read: true},
		{Name: "subset", Title: "A part of a catalog, by olmkit subset", Type: subset.Subset{}},
		{Name: "plan", Title: "A plan of olmkit plan", Type: planJSON{}, Is: reconcile.Plan{}},
		{Name: "status", Title: "The operators of a cluster, by olmkit status", Type: statusDocument{}},
	}
}
