package kubectl_test

import (
	"slices"
	"testing"

	"github.com/olmkit/olmkit/internal/kubectl"
)

// TestCommands: names and values cannot leave their quotes.
func TestCommands(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{kubectl.Patch("subscription", "ops", "db", map[string]any{"channel": "stable", "startingCSV": nil}),
			`kubectl patch subscription db -n ops --type merge --patch '{"spec":{"channel":"stable","startingCSV":null}}'`},
		{kubectl.Patch("clustercatalog", "", "it's", map[string]any{"priority": 3}),
			`kubectl patch clustercatalog 'it'\''s' --type merge --patch '{"spec":{"priority":3}}'`},
		{kubectl.Delete("subscription", "ops", "$(reboot)"), `kubectl delete subscription '$(reboot)' -n ops`},
		{kubectl.List("installplan", "it's"), `kubectl get installplan -n 'it'\''s'`},
		{kubectl.Labeled("get", "pods", "olm", "olm.catalogSource", "it's"), `kubectl get pods -n olm -l 'olm.catalogSource=it'\''s'`},
		{kubectl.Delete("subscription", "", ""), `kubectl delete subscription ''`},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}

// TestObjects: objects that are created, and objects whose name or spec only the cluster knows.
func TestObjects(t *testing.T) {
	object := map[string]any{"kind": "CatalogSource", "metadata": map[string]any{"name": "it's"}}
	for _, tt := range []struct{ got, want string }{
		{kubectl.Apply(object), `echo '{"kind":"CatalogSource","metadata":{"name":"it'\''s"}}' | kubectl apply -f -`},
		{kubectl.ApplyImage(map[string]any{"kind": "CatalogSource", "metadata": map[string]any{"name": "it's"}, "spec": map[string]any{"sourceType": "grpc", "image": kubectl.Image}}),
			`echo '{"kind":"CatalogSource","metadata":{"name":"it'\''s"},"spec":{"image":"'"${IMAGE:?set it to the image of the catalog}"'","sourceType":"grpc"}}' | kubectl apply -f -`},
		{kubectl.Copy("catalogsource", "olm", "it's", object),
			`echo '{"kind":"CatalogSource","metadata":{"name":"it'\''s"},"spec":'"$(kubectl get catalogsource 'it'\''s' -n olm -o jsonpath={.spec})"'}' | kubectl apply -f -`},
		{kubectl.PatchStatus("subscription", "ops", "db", map[string]any{"currentCSV": "db.v1"}),
			`kubectl patch subscription db -n ops --subresource=status --type merge --patch '{"status":{"currentCSV":"db.v1"}}'`},
		{kubectl.Annotate("subscription", "ops", "db", "olm.generated-by-"), `kubectl annotate subscription db -n ops olm.generated-by-`},
		{kubectl.Recreate("clusterextension", "", "db", map[string]any{"channel": "stable"}),
			`kubectl get clusterextension db -o json | kubectl patch --local -f - --type merge --patch '{"spec":{"channel":"stable"}}' -o json | kubectl replace --force -f -`},
		{kubectl.PatchOnly("operatorgroup", "ops", map[string]any{"targetNamespaces": []string{"ops"}}),
			`kubectl get operatorgroup -n ops -o name | xargs kubectl patch -n ops --type merge --patch '{"spec":{"targetNamespaces":["ops"]}}'`},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}

// TestReplace: commands that end a hold, and that remove or replace an operator.
func TestReplace(t *testing.T) {
	classic, v1 := kubectl.Operator{Namespace: "ops", Name: "db"}, kubectl.Operator{V1: true, Name: "db"}
	const recreate = "kubectl get subscription.operators.coreos.com db -n ops -o json | kubectl patch --local -f - --type merge --patch "
	for _, tt := range []struct {
		got  []string
		want []string
	}{
		{[]string{classic.Resume("")}, []string{`kubectl patch subscription.operators.coreos.com db -n ops --type merge --patch '{"spec":{"installPlanApproval":"Automatic"}}'`}},
		{[]string{v1.Resume("")}, []string{`kubectl patch clusterextension db --type merge --patch '{"spec":{"source":{"catalog":{"version":null}}}}'`}},
		{[]string{v1.Resume("1.x")}, []string{`kubectl patch clusterextension db --type merge --patch '{"spec":{"source":{"catalog":{"version":"1.x"}}}}'`}},
		{[]string{classic.Approve()}, []string{`kubectl patch installplan.operators.coreos.com "$(kubectl get subscription.operators.coreos.com db -n ops -o jsonpath={.status.installPlanRef.name})" -n ops --type merge --patch '{"spec":{"approved":true}}'`}},
		{[]string{v1.Certified("1.x")}, []string{`kubectl patch clusterextension db --type merge --patch '{"spec":{"source":{"catalog":{"upgradeConstraintPolicy":null,"version":"1.x"}}}}'`}},
		{classic.Remove("db.v1"), []string{"kubectl delete subscription.operators.coreos.com db -n ops", "kubectl delete clusterserviceversion db.v1 -n ops"}},
		{v1.Remove("db.v1"), []string{"kubectl delete clusterextension db"}},
		{classic.Reinstall("db.v1", "new", "db.v2", "2.0.0", true), []string{
			"kubectl delete clusterserviceversion db.v1 -n ops",
			recreate + `'{"spec":{"channel":"new","startingCSV":null}}' -o json | kubectl replace --force -f -`,
		}},
		{classic.Reinstall("db.v1", "new", "db.v2", "2.0.0", false), []string{
			"kubectl delete clusterserviceversion db.v1 -n ops",
			recreate + `'{"spec":{"channel":"new","installPlanApproval":"Manual","startingCSV":"db.v2"}}' -o json | kubectl replace --force -f -`,
		}},
		{v1.Reinstall("db.v1", "new", "db.v2", "2.0.0", true), []string{
			`kubectl patch clusterextension db --type merge --patch '{"spec":{"source":{"catalog":{"channels":["new"],"upgradeConstraintPolicy":"SelfCertified","version":"2.0.0"}}}}'`,
		}},
		{[]string{v1.AllowUnsafeCRDs()}, []string{`kubectl patch clusterextension db --type merge --patch '{"spec":{"install":{"preflight":{"crdUpgradeSafety":{"enforcement":"None"}}}}}'`}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("got  %q\nwant %q", tt.got, tt.want)
		}
	}
}
