package cli

import (
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/crdsafety"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/kube/permissions"
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
	// Title is a short description.
	Title string
	// Type is a value of the Go type of the document. If Is is not nil, the field comments are
	// those of the type of Is instead.
	Type, Is any
	// Read is true for documents that olmkit reads. More is true if they may have unknown members.
	Read, More bool
	// By lists the commands that print the document with -o json.
	By []string
}

// Documents returns the kinds of documents that have a schema.
func Documents() []Document {
	return []Document{
		{Name: "problem", Title: "A problem for olmkit resolve", Type: resolver.Problem{}, Read: true, By: []string{"shrink"}},
		{Name: "answer", Title: "An answer of olmkit resolve", Type: answer{}, By: []string{"resolve"}},
		{Name: "report", Title: "The explanation of a conflict, by olmkit explain", Type: resolver.Report{}, By: []string{"explain"}},
		{Name: "reasons", Title: "Why bundles are part of a solution, by olmkit explain", Type: []explained{}, By: []string{"explain"}},
		{Name: "namespace-reasons", Title: "Why bundles are part of the solution for a namespace, by olmkit explain --all-namespaces", Type: namespaceReasons{}, By: []string{"explain"}},
		{Name: "unanswered", Title: "A namespace without an answer, by resolve, explain and plan with --all-namespaces", Type: unansweredNamespace{}, By: []string{"resolve", "explain", "plan"}},
		{Name: "why-not", Title: "Why a bundle is not part of a solution, by olmkit explain", Type: resolver.WhyNots{}, By: []string{"explain"}},
		{Name: "codes", Title: "All codes of findings and facts, by olmkit explain", Type: codeList{}, By: []string{"explain"}},
		{Name: "code", Title: "A code of findings or facts, by olmkit explain", Type: codePage{}, By: []string{"explain"}},
		{Name: "record", Title: "A problem with its answer, for olmkit replay", Type: resolver.Record{}, Read: true},
		{Name: "replay", Title: "The comparison of an answer with a record, by olmkit replay", Type: replayed{}, By: []string{"replay"}},
		{Name: "request", Title: "A request for olmkit select", Type: olmv1.Request{}, Read: true},
		{Name: "selection", Title: "A selection of olmkit select", Type: olmv1.Selection{}, By: []string{"select"}},
		{Name: "refusal", Title: "A refusal of olmkit select", Type: olmv1.Refusal{}, By: []string{"select"}},
		{Name: "unselected", Title: "The answer of olmkit select to an invalid request", Type: unselected{}, By: []string{"select"}},
		{Name: "eligible", Title: "Whether OLM v1 installs a bundle at all, by olmkit eligible", Type: eligibleRow{}, By: []string{"eligible"}},
		{Name: "manifests-request", Title: "A request for olmkit manifests", Type: manifestsRequest{}, Read: true, More: true},
		{Name: "manifests", Title: "An answer of olmkit manifests", Type: manifestsAnswer{}, By: []string{"manifests"}},
		{Name: "manifests-list", Title: "The manifests of a bundle, by olmkit manifests", Type: objectList{}, By: []string{"manifests"}},
		{Name: "permissions", Title: "What an operator may do, by olmkit permissions", Type: permissions.Report{}, By: []string{"permissions"}},
		{Name: "impact", Title: "What an upgrade changes, by olmkit impact", Type: impact.Report{}, By: []string{"impact"}},
		{Name: "impact-unknown", Title: "An operator whose upgrade could not be compared, by olmkit impact", Type: impactUnknown{}, By: []string{"impact"}},
		{Name: "impact-table", Title: "The verdicts on the upgrades of a catalog, by olmkit impact", Type: impactTable{}, By: []string{"impact"}},
		{Name: "quality", Title: "The quality of a catalog, by olmkit report", Type: quality{}, By: []string{"report"}},
		{Name: "crd-safety-problem", Title: "A problem for olmkit crd-safety", Type: crdProblem{}, Read: true, More: true},
		{Name: "crd-safety-answer", Title: "An answer of olmkit crd-safety to a problem", Type: crdAnswer{}, By: []string{"crd-safety"}},
		{Name: "crd-safety", Title: "A verdict of olmkit crd-safety", Type: crdsafety.Result{}, By: []string{"crd-safety"}},
		{Name: "platform-problem", Title: "A problem for olmkit platform", Type: platform.Problem{}, Read: true},
		{Name: "platform-plan", Title: "A plan of olmkit platform", Type: platformPlanJSON{}, Is: platform.Plan{}, By: []string{"platform"}},
		{Name: "subset-request", Title: "A request for a part of a catalog", Type: subset.Request{}, Read: true},
		{Name: "subset", Title: "A part of a catalog, by olmkit subset", Type: subset.Subset{}, By: []string{"subset"}},
		{Name: "plan", Title: "A plan of olmkit plan", Type: planJSON{}, Is: reconcile.Plan{}, By: []string{"plan"}},
		{Name: "simulation-step", Title: "A write of olmkit simulate", Type: simulatedStep{}, By: []string{"simulate"}},
		{Name: "simulation", Title: "The end of a simulation, by olmkit simulate", Type: simulationEnd{}, By: []string{"simulate"}},
		{Name: "extension-plan", Title: "The plan of a ClusterExtension, by olmkit plan", Type: extensionPlan{}, By: []string{"plan"}},
		{Name: "extension-step", Title: "A write for a ClusterExtension, by olmkit simulate", Type: extensionStep{}, By: []string{"simulate"}},
		{Name: "extension-simulation", Title: "The end of the simulation of a ClusterExtension, by olmkit simulate", Type: extensionEnd{}, By: []string{"simulate"}},
		{Name: "status", Title: "The operators of a cluster, by olmkit status", Type: statusDocument{}, By: []string{"status"}},
		{Name: "findings", Title: "The findings of olmkit validate", Type: report{}, By: []string{"validate"}},
		{Name: "package", Title: "A package, by olmkit list packages", Type: packageRow{}, By: []string{"list"}},
		{Name: "channel", Title: "A channel, by olmkit list channels", Type: channelRow{}, By: []string{"list"}},
		{Name: "bundle", Title: "A bundle in a channel, by olmkit list bundles", Type: bundleRow{}, By: []string{"list"}},
		{Name: "graph", Title: "The upgrades of a package, by olmkit graph", Type: graphAnswer{}, By: []string{"graph"}},
		{Name: "path", Title: "An upgrade path, by olmkit path", Type: pathAnswer{}, By: []string{"path"}},
		{Name: "diff", Title: "The differences between two catalogs, by olmkit diff", Type: graph.Diff{}, By: []string{"diff"}},
		{Name: "cached", Title: "An image or a server in the cache, by olmkit cache list", Type: cached{}, By: []string{"cache"}},
		{Name: "version", Title: "The version of olmkit, by olmkit version", Type: versionInfo{}, By: []string{"version"}},
	}
}
