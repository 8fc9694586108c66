package reconcile_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// partial is an operator whose CSV has more parts, which replace PARTS, INSTALL, DEPLOYMENT
// and WEBHOOK.
const partial = `
apiVersion: v1
kind: Namespace
metadata: {name: ops}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: group, namespace: ops}
spec: {}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: things.v1, namespace: ops}
spec:
  installModes: [{type: AllNamespaces, supported: true}]
  PARTS
  webhookdefinitions:
  - {type: ValidatingAdmissionWebhook, generateName: v.example.com, deploymentName: things, admissionReviewVersions: [v1], sideEffects: None, WEBHOOK}
  install:
    strategy: STRATEGY
    spec:
      INSTALL
      deployments:
      - name: things
        DEPLOYMENT
        spec:
          selector: {matchLabels: {app: things}}
          template: {metadata: {labels: {app: things}}, spec: {containers: [{name: server, image: example.com/things}]}}
      - name: OTHER
        spec:
          selector: {matchLabels: {app: other}}
          template: {metadata: {labels: {app: other}}, spec: {containers: [{name: server, image: example.com/things}]}}
`

// futureCRD defines CSVs with fields that OLM v0.45 does not have.
const futureCRD = `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterserviceversions.operators.coreos.com}
spec:
  group: operators.coreos.com
  names: {kind: ClusterServiceVersion, plural: clusterserviceversions}
  scope: Namespaced
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              future: {type: string}
              release: {type: string}
              webhookdefinitions: {items: {properties: {future: {type: string}}}}
              customresourcedefinitions: {properties: {future: {type: string}}}
              apiservicedefinitions: {properties: {future: {type: string}}}
              install:
                properties:
                  future: {type: string}
                  spec:
                    properties:
                      future: {type: string}
                      deployments: {items: {properties: {future: {type: string}}}}
                      permissions: {items: {properties: {future: {type: string}}}}
                      clusterPermissions: {items: {properties: {future: {type: string}}}}
`

func partialCluster(t *testing.T, text string, replace ...string) *memcluster.Cluster {
	t.Helper()
	replace = append(replace, "PARTS", "", "INSTALL", "", "DEPLOYMENT", "", "WEBHOOK", "timeoutSeconds: 5", "STRATEGY", "deployment", "OTHER", "other")
	c := &memcluster.Cluster{GlobalNamespace: "olm", Controllers: true, Now: fixedTime}
	for _, o := range objects(t, []byte(strings.NewReplacer(replace...).Replace(text))) {
		if err := c.Put(&o); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// E38: a CSV with a part that would not be run fails with the name of that part, and nothing
// is created for it. Fields that the API server drops do not count.
func TestUnsupportedPart(t *testing.T) {
	const invalid = reason.InvalidStrategy
	for _, test := range []struct {
		name    string
		text    string
		replace []string
		reason  olm.Reason // "" if the operator runs
		message string
	}{
		{"all is known", partial + futureCRD, nil, "", ""},
		{"strategy", partial, []string{"STRATEGY", "helm"}, invalid, `install strategy "helm" is unknown`},
		{"no strategy", partial, []string{"strategy: STRATEGY", ""}, invalid, `install strategy "" is unknown`},
		{"two deployments", partial, []string{"OTHER", "things"}, invalid, `/spec/install/spec/deployments/1: there are two deployments "things"`},
		{"two servers", partial, []string{"PARTS", `apiservicedefinitions: {owned: [
		  {name: a, group: example.com, version: v1, kind: A, deploymentName: things}, {name: b, group: example.com, version: v1, kind: B, deploymentName: other}]}`},
			invalid, "/spec/apiservicedefinitions/owned/1: APIService v1.example.com can have only one server"},
		{"one server", partial, []string{"PARTS", `apiservicedefinitions: {owned: [
		  {name: a, group: example.com, version: v1, kind: A, deploymentName: things}, {name: b, group: example.com, version: v1, kind: B, deploymentName: things}]}`}, "", ""},
		{"webhook type", partial, []string{"ValidatingAdmissionWebhook", "AuditWebhook"}, reason.InvalidWebhook, `unknown type "AuditWebhook"`},
		{"webhook twice", partial, []string{"webhookdefinitions:", `webhookdefinitions:
  - {type: MutatingAdmissionWebhook, generateName: v.example.com, deploymentName: things, admissionReviewVersions: [v1], sideEffects: None}`}, reason.InvalidWebhook, `two webhooks named "v.example.com"`},
		{"webhook rules", partial, []string{"WEBHOOK", `rules: [{apiGroups: ["*"]}]`}, reason.InvalidWebhook, "cannot include all groups"},
		{"webhook without its deployment", partial, []string{"deploymentName: things", "deploymentName: gone"}, reason.ComponentFailed, `the CSV has no deployment "gone"`},
		{"conversion without CRDs", partial, []string{"ValidatingAdmissionWebhook", "ConversionWebhook"}, reason.ComponentFailed, "must have at least one CRD"},

		{"dropped fields", partial, []string{"PARTS", "future: x", "INSTALL", "future: x", "WEBHOOK", "future: x"}, "", ""},
		{"field that is only shown", partial + futureCRD, []string{"PARTS", "release: x"}, "", ""},
		{"cleanup", partial + futureCRD, []string{"PARTS", "cleanup: {enabled: true}"}, "", ""},
		{"field of the spec", partial + futureCRD, []string{"PARTS", "future: x"}, invalid, "/spec/future: the CRD of the cluster defines this field"},
		{"field of the installation", partial + futureCRD, []string{"strategy: STRATEGY", "strategy: deployment\n    future: x"}, invalid, "/spec/install/future: "},
		{"field of the strategy", partial + futureCRD, []string{"INSTALL", "future: x"}, invalid, "/spec/install/spec/future: "},
		{"field of a deployment", partial + futureCRD, []string{"DEPLOYMENT", "future: x"}, invalid, "/spec/install/spec/deployments/0/future: "},
		{"field of permissions", partial + futureCRD, []string{"INSTALL", "permissions: [{serviceAccountName: default, rules: [], future: x}]"}, invalid, "/spec/install/spec/permissions/0/future: "},
		{"field of cluster permissions", partial + futureCRD, []string{"INSTALL", "clusterPermissions: [{serviceAccountName: default, rules: [], future: x}]"}, invalid, "/spec/install/spec/clusterPermissions/0/future: "},
		{"field of a webhook", partial + futureCRD, []string{"WEBHOOK", "future: x"}, invalid, "/spec/webhookdefinitions/0/future: "},
		{"field of the CRDs", partial + futureCRD, []string{"PARTS", "customresourcedefinitions: {future: x}"}, invalid, "/spec/customresourcedefinitions/future: "},
		{"field of the APIs", partial + futureCRD, []string{"PARTS", "apiservicedefinitions: {future: x}"}, invalid, "/spec/apiservicedefinitions/future: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := partialCluster(t, test.text, test.replace...)
			writes, _ := serve(t, c, "ops")
			if test.reason == "" {
				phase(t, c, "ops/things.v1", olm.PhaseSucceeded, reason.InstallSuccessful, "")
				return
			}
			phase(t, c, "ops/things.v1", olm.PhaseFailed, test.reason, test.message)
			for _, w := range writes {
				if strings.HasPrefix(w, "Create ") && !strings.Contains(w, "OperatorCondition") && !strings.Contains(w, "ClusterRole ") {
					t.Errorf("%s, although the CSV fails", w)
				}
			}
		})
	}
}

// E38: an operator that ran fails once its CSV has such a part, and is installed again once the
// part is gone.
func TestUnsupportedPartLater(t *testing.T) {
	c := partialCluster(t, partial)
	serve(t, c, "ops")
	edit := func(strategy string) {
		csv := phase(t, c, "ops/things.v1", olm.PhaseSucceeded, reason.InstallSuccessful, "")
		csv.Spec.Install.Strategy = strategy
		if err := c.Put(csv); err != nil {
			t.Fatal(err)
		}
		serve(t, c, "ops")
	}
	edit("helm")
	csv := phase(t, c, "ops/things.v1", olm.PhaseFailed, reason.InvalidStrategy, `"helm"`)
	csv.Spec.Install.Strategy = olm.StrategyDeployment
	if err := c.Put(csv); err != nil {
		t.Fatal(err)
	}
	serve(t, c, "ops")
	phase(t, c, "ops/things.v1", olm.PhaseSucceeded, reason.InstallSuccessful, "")
}

// E38: a service account of another operator is not used.
func TestForeignServiceAccount(t *testing.T) {
	const account = `
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: runner
  namespace: ops
  ownerReferences: [{apiVersion: operators.coreos.com/v1alpha1, kind: KIND, name: other, uid: other}]
`
	for _, test := range []struct {
		kind   string
		phase  olm.Phase
		reason olm.Reason
		text   string
	}{
		{"ClusterServiceVersion", olm.PhasePending, reason.RequirementsNotMet, "ServiceAccount runner (Service account is owned by another ClusterServiceVersion)"},
		{"ConfigMap", olm.PhaseSucceeded, reason.InstallSuccessful, ""},
	} {
		c := partialCluster(t, partial+account, "KIND", test.kind, "INSTALL", "permissions: [{serviceAccountName: runner, rules: []}]")
		serve(t, c, "ops")
		phase(t, c, "ops/things.v1", test.phase, test.reason, test.text)
	}
}

// E38: native APIs and required aggregated APIs are those of the API server.
func TestNativeAPIs(t *testing.T) {
	const (
		core      = "\n---\napiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.}"
		apps      = "\n---\napiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.apps}"
		available = "\nstatus: {conditions: [{type: Available, status: \"True\"}]}"
	)
	native := func(version, kind string) string {
		return "nativeAPIs: [{group: apps, version: " + version + ", kind: " + kind + "}]"
	}
	required := "apiservicedefinitions: {required: [{name: deployments, group: apps, version: v1, kind: Deployment}]}"
	deployment := property.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
	for _, test := range []struct {
		name, text, parts string
		served            []property.GVK
		missing           string // "" if the operator runs
	}{
		{"group of every cluster", "", native("v1", "Deployment"), nil, ""},
		{"version that the cluster has", core + apps, native("v1", "Deployment"), nil, ""},
		{"version that the cluster lacks", core + apps, native("v2", "Deployment"), nil, "Native API does not exist"},
		{"kind that the cluster has", core + apps, native("v1", "Deployment"), []property.GVK{deployment}, ""},
		{"kind that the cluster lacks", core + apps, native("v1", "Robot"), []property.GVK{deployment}, "Native API does not exist"},
		{"required kind that the cluster has", core + apps + available, required, []property.GVK{deployment}, ""},
		{"required kind that the cluster lacks", core + apps + available, required, []property.GVK{}, "the API server serves no kind Deployment"},
		{"required API that does not respond", core + apps, required, []property.GVK{}, "APIService is not available"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := partialCluster(t, partial+test.text, "PARTS", test.parts)
			s, err := c.Read(t.Context(), "ops")
			if err != nil {
				t.Fatal(err)
			}
			s.Served = test.served
			got := ""
			for range 4 { // group, finalizer, Pending, requirements
				plan, err := reconcile.Decide(t.Context(), s, nil, &reconcile.Options{NewKey: fixedKey})
				if err != nil {
					t.Fatal(err)
				}
				for _, ch := range plan.Changes {
					if _, err := c.Apply(t.Context(), ch); err != nil {
						t.Fatal(err)
					}
				}
				if s, err = c.Read(t.Context(), "ops"); err != nil {
					t.Fatal(err)
				}
				s.Served = test.served
			}
			csv := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/things.v1")
			for _, r := range csv.Status.RequirementStatus {
				if r.Status != "Present" {
					got = r.Message
				}
			}
			if got != test.missing || (csv.Status.Reason == reason.RequirementsNotMet) != (test.missing != "") {
				t.Errorf("missing %q, want %q; the CSV is %s, %s", got, test.missing, csv.Status.Phase, csv.Status.Message)
			}
		})
	}
}
