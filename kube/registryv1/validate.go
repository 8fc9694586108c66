package registryv1

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/phrase"
)

// Validate returns the problems of the bundle that do not depend on its namespace and
// configuration, in the order of the rules from [K8] to [K20] and by name within a
// rule, and those that only the API server would find. There are none if OLM v1 can install
// the bundle.
//
// [K8]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#k8
// [K20]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#k20
func (b *Bundle) Validate() []Problem {
	out := b.validate()
	out = append(out, crdContents(b)...)
	out = append(out, objectMetadata(b)...)
	out = append(out, objectContents(b)...)
	return append(out, webhookFields(b)...)
}

// validate returns the problems that do not depend on the API server.
func (b *Bundle) validate() []Problem {
	var out []Problem
	for _, check := range []func(*Bundle) []Problem{
		uniqueDeployments, deploymentNames, uniqueCRDs, ownedCRDs, packageName, conversionModes,
		webhookDeployments, uniqueWebhooks, webhookNames, uniqueConversions, ownedConversions,
		webhookRules, supportedKinds,
		uniqueCSV, servicePorts, crdVersions,
	} {
		out = append(out, check(b)...)
	}
	return out
}

func (b *Bundle) deployments() []v1alpha1.StrategyDeploymentSpec {
	return b.CSV().Spec.InstallStrategy.StrategySpec.DeploymentSpecs
}

func (b *Bundle) webhooks() []v1alpha1.WebhookDescription { return b.CSV().Spec.WebhookDefinitions }

func invalid(code string, subject string, at fbc.Pos, peer, format string, args ...any) Problem {
	return Problem{Stage: StageValidate, Code: code, Subject: subject, Pos: at, Message: fmt.Sprintf(format, args...), peerMessage: peer}
}

// quoting returns p with the subject that operator-controller reports instead.
func quoting(p Problem, subject string) Problem {
	p.peerSubject = &subject
	return p
}

// uniqueDeployments checks K8.
func uniqueDeployments(b *Bundle) (out []Problem) {
	seen := map[string]int{}
	for i, d := range b.deployments() {
		if seen[d.Name]++; seen[d.Name] == 2 {
			out = append(out, invalid("dupDeployment", d.Name, b.csv().At(deploymentPath(i)...),
				fmt.Sprintf("cluster service version contains duplicate strategy deployment spec '%s'", d.Name),
				"the CSV has two deployments %q; rename one", d.Name))
		}
	}
	return sortProblems(out)
}

// deploymentNames checks K9.
func deploymentNames(b *Bundle) (out []Problem) {
	for i, d := range b.deployments() {
		if errs := validation.IsDNS1123Subdomain(d.Name); len(errs) > 0 {
			out = append(out, invalid("deploymentName", d.Name, b.csv().At(deploymentPath(i)...),
				fmt.Sprintf("invalid cluster service version strategy deployment name '%s': %s", d.Name, strings.Join(errs, ", ")),
				"the name of deployment %q is invalid: %s", d.Name, strings.Join(errs, "; ")))
		}
	}
	out = sortProblems(out)
	return slices.CompactFunc(out, func(a, b Problem) bool { return a.Subject == b.Subject })
}

// uniqueCRDs checks K10.
func uniqueCRDs(b *Bundle) (out []Problem) {
	first := map[string]fbc.Pos{}
	reported := map[string]bool{}
	for _, crd := range b.CRDs {
		name := crd.Object.Name
		at, dup := first[name]
		if !dup {
			first[name] = crd.Pos
		} else if !reported[name] {
			reported[name] = true
			out = append(out, invalid("dupCRD", name, crd.Pos,
				fmt.Sprintf("bundle contains duplicate custom resource definition '%s'", name),
				"CustomResourceDefinition %q is already in %s; remove one", name, at))
		}
	}
	return sortProblems(out)
}

func (b *Bundle) hasCRD(name string) bool {
	for i := range b.CRDs {
		if b.CRDs[i].Object.Name == name {
			return true
		}
	}
	return false
}

// ownedCRDs checks K11.
func ownedCRDs(b *Bundle) (out []Problem) {
	for i, owned := range b.CSV().Spec.CustomResourceDefinitions.Owned {
		if !b.hasCRD(owned.Name) {
			out = append(out, invalid("missingCRD", owned.Name, b.csv().At("spec", "customresourcedefinitions", "owned", i, "name"),
				fmt.Sprintf("cluster service definition references owned custom resource definition '%s' not found in bundle", owned.Name),
				"the CSV owns CustomResourceDefinition %q, which is not in the bundle; add it", owned.Name))
		}
	}
	out = sortProblems(out)
	return slices.CompactFunc(out, func(a, b Problem) bool { return a.Subject == b.Subject })
}

// packageName checks K12.
func packageName(b *Bundle) []Problem {
	if b.Package != "" {
		return nil
	}
	return []Problem{invalid("packageName", "", fbc.Pos{File: annotationsFile}, "package name is empty",
		"the package has no name; set the annotation %s", packageAnnotation)}
}

// conversionModes checks K13.
func conversionModes(b *Bundle) (out []Problem) {
	modes := map[string]bool{}
	for _, m := range b.CSV().Spec.InstallModes {
		if m.Supported {
			modes[string(m.Type)] = true
		}
	}
	supported := slices.Sorted(maps.Keys(modes))
	if slices.Equal(supported, []string{string(v1alpha1.InstallModeTypeAllNamespaces)}) {
		return nil
	}
	for i, w := range b.webhooks() {
		if w.Type == v1alpha1.ConversionWebhook {
			out = append(out, invalid("conversionInstallMode", w.GenerateName, b.csv().At(webhookPath(i)...),
				fmt.Sprintf("bundle contains conversion webhook %q and supports install modes %v - conversion webhooks are only supported for bundles that only support AllNamespaces install mode", w.GenerateName, supported),
				"conversion webhook %q requires that AllNamespaces is the only supported install mode; supported are %v", w.GenerateName, supported))
		}
	}
	return out
}

// webhookDeployments checks K14.
func webhookDeployments(b *Bundle) (out []Problem) {
	for _, i := range sortedWebhooks(b, func(w *v1alpha1.WebhookDescription) string { return w.DeploymentName }) {
		w := &b.webhooks()[i]
		if !slices.ContainsFunc(b.deployments(), func(d v1alpha1.StrategyDeploymentSpec) bool { return d.Name == w.DeploymentName }) {
			out = append(out, quoting(invalid("webhookDeployment", w.GenerateName, b.csv().At(append(webhookPath(i), "deploymentName")...),
				fmt.Sprintf("webhook of type '%s' with name '%s' references non-existent deployment '%s'", w.Type, w.GenerateName, w.DeploymentName),
				"%s %q is served by deployment %q, which the CSV does not have", w.Type, w.GenerateName, w.DeploymentName), string(w.Type)))
		}
	}
	return out
}

// sortedWebhooks returns the indexes of the webhooks, sorted by the key that first
// returns, then by type and name.
func sortedWebhooks(b *Bundle, first func(*v1alpha1.WebhookDescription) string) []int {
	list := b.webhooks()
	out := make([]int, len(list))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(i, j int) int {
		x, y := &list[i], &list[j]
		return cmp.Or(cmp.Compare(first(x), first(y)), cmp.Compare(x.Type, y.Type), cmp.Compare(x.GenerateName, y.GenerateName))
	})
	return out
}

func byType(*v1alpha1.WebhookDescription) string { return "" }

// uniqueWebhooks checks K15.
func uniqueWebhooks(b *Bundle) (out []Problem) {
	type webhook struct {
		typ  v1alpha1.WebhookAdmissionType
		name string
	}
	seen := map[webhook]int{}
	for _, i := range sortedWebhooks(b, byType) {
		w := &b.webhooks()[i]
		id := webhook{w.Type, w.GenerateName}
		if seen[id]++; seen[id] == 2 {
			out = append(out, invalid("dupWebhook", w.GenerateName, b.csv().At(webhookPath(i)...),
				fmt.Sprintf("duplicate webhook '%s' of type '%s'", w.GenerateName, w.Type),
				"the CSV has two webhooks %q of type %s; rename one", w.GenerateName, w.Type))
		}
	}
	return out
}

// webhookNames checks K16.
func webhookNames(b *Bundle) (out []Problem) {
	for _, i := range sortedWebhooks(b, byType) {
		w := &b.webhooks()[i]
		if errs := validation.IsDNS1123Subdomain(w.GenerateName); len(errs) > 0 {
			out = append(out, quoting(invalid("webhookName", w.GenerateName, b.csv().At(append(webhookPath(i), "generateName")...),
				fmt.Sprintf("webhook of type '%s' has invalid name '%s': %s", w.Type, w.GenerateName, strings.Join(errs, ",")),
				"the name of %s %q is invalid: %s", w.Type, w.GenerateName, strings.Join(errs, "; ")), string(w.Type)))
		}
	}
	return out
}

// webhookFields checks K235: the API server accepts the webhooks.
func webhookFields(b *Bundle) (out []Problem) {
	for i := range b.webhooks() {
		w := &b.webhooks()[i]
		bad := func(field, format string, args ...any) {
			out = append(out, ours("invalidWebhook", w.GenerateName, b.csv().At(append(webhookPath(i), field)...), "webhook %q: %s", w.GenerateName, fmt.Sprintf(format, args...)))
		}
		switch w.Type {
		case v1alpha1.ValidatingAdmissionWebhook, v1alpha1.MutatingAdmissionWebhook:
			if n := strings.Count(w.GenerateName, ".") + 1; n < 3 && len(validation.IsDNS1123Subdomain(w.GenerateName)) == 0 {
				bad("generateName", "its name has %s, and the API server wants at least three, as in check.demo.example.com", phrase.Count(n, "part"))
			}
			switch {
			case w.SideEffects == nil:
				bad("sideEffects", "sideEffects is missing; write None or NoneOnDryRun")
			case *w.SideEffects != admissionv1.SideEffectClassNone && *w.SideEffects != admissionv1.SideEffectClassNoneOnDryRun:
				bad("sideEffects", "sideEffects is %q; write None or NoneOnDryRun", *w.SideEffects)
			}
			if t := w.TimeoutSeconds; t != nil && (*t < 1 || *t > 30) {
				bad("timeoutSeconds", "timeoutSeconds is %d; write a number from 1 to 30", *t)
			}
		case v1alpha1.ConversionWebhook:
		default:
			bad("type", "type %q does not exist, and OLM ignores the webhook; write ValidatingAdmissionWebhook, MutatingAdmissionWebhook or ConversionWebhook", w.Type)
			continue
		}
		if len(w.AdmissionReviewVersions) == 0 {
			bad("admissionReviewVersions", "admissionReviewVersions is missing; write [v1]")
		}
		if p := w.ContainerPort; p < 0 || p > 65535 {
			bad("containerPort", "containerPort %d is not a port; write a number from 1 to 65535", p)
		}
	}
	return out
}

// uniqueConversions checks K17.
func uniqueConversions(b *Bundle) (out []Problem) {
	webhooks := map[string][]string{} // webhook names by the CRD that they convert
	last := map[string]int{}
	for i, w := range b.webhooks() {
		if w.Type == v1alpha1.ConversionWebhook {
			for _, crd := range w.ConversionCRDs {
				webhooks[crd], last[crd] = append(webhooks[crd], w.GenerateName), i
			}
		}
	}
	for _, crd := range slices.Sorted(maps.Keys(webhooks)) {
		if names := slices.Sorted(slices.Values(webhooks[crd])); len(names) > 1 {
			out = append(out, invalid("dupConversionCRD", crd, b.csv().At(append(webhookPath(last[crd]), "conversionCRDs")...),
				fmt.Sprintf("conversion webhooks [%s] reference same custom resource definition '%s'", strings.Join(names, ","), crd),
				"CustomResourceDefinition %q is converted more than once, by %s; keep one", crd, quoted(names)))
		}
	}
	return out
}

// ownedConversions checks K18.
func ownedConversions(b *Bundle) (out []Problem) {
	owned := map[string]bool{}
	for _, crd := range b.CSV().Spec.CustomResourceDefinitions.Owned {
		owned[crd.Name] = true
	}
	for _, i := range sortedWebhooks(b, byName) {
		w := &b.webhooks()[i]
		if w.Type != v1alpha1.ConversionWebhook {
			continue
		}
		for _, crd := range slices.Sorted(slices.Values(w.ConversionCRDs)) {
			if !owned[crd] {
				out = append(out, invalid("conversionNotOwned", w.GenerateName, b.csv().At(append(webhookPath(i), "conversionCRDs")...),
					fmt.Sprintf("conversion webhook '%s' references custom resource definition '%s' not owned bundle", w.GenerateName, crd),
					"conversion webhook %q converts CustomResourceDefinition %q, which the CSV does not own", w.GenerateName, crd))
			}
		}
	}
	return out
}

func byName(w *v1alpha1.WebhookDescription) string { return w.GenerateName }

// webhookRules checks K19.
func webhookRules(b *Bundle) (out []Problem) {
	forbidden := func(i int, w *v1alpha1.WebhookDescription, what string) {
		out = append(out, invalid("webhookRule", w.GenerateName, b.csv().At(append(webhookPath(i), "rules")...),
			fmt.Sprintf("webhook %q contains forbidden rule: admission webhook rules cannot reference %s", w.GenerateName, what),
			"the rules of webhook %q must not contain %s", w.GenerateName, what))
	}
	for i := range b.webhooks() {
		w := &b.webhooks()[i]
		if w.Type != v1alpha1.ValidatingAdmissionWebhook && w.Type != v1alpha1.MutatingAdmissionWebhook {
			continue
		}
		for _, rule := range w.Rules {
			for _, group := range rule.APIGroups {
				switch group {
				case "*", "olm.operatorframework.io":
					forbidden(i, w, fmt.Sprintf("API group %q", group))
				case "admissionregistration.k8s.io":
					for _, resource := range rule.Resources {
						switch strings.ToLower(resource) {
						case "*", "mutatingwebhookconfiguration", "mutatingwebhookconfigurations",
							"validatingwebhookconfiguration", "validatingwebhookconfigurations":
							forbidden(i, w, fmt.Sprintf("resource %q for API group %q", resource, group))
						}
					}
				}
			}
		}
	}
	return out
}

// supportedKinds checks K20.
func supportedKinds(b *Bundle) (out []Problem) {
	for _, o := range b.Others {
		if extraScope(o.Object.GetKind()) == unsupported {
			out = append(out, invalid("unsupportedKind", o.Object.GetName(), o.Pos,
				fmt.Sprintf("unsupported resource %q with kind %q", o.Object.GetName(), o.Object.GetKind()),
				"%s %q is of a kind that a bundle must not contain", o.Object.GetKind(), o.Object.GetName()))
		}
	}
	return out
}

// uniqueCSV checks K200.
func uniqueCSV(b *Bundle) (out []Problem) {
	for _, csv := range b.CSVs[:len(b.CSVs)-1] {
		out = append(out, ours("dupCSV", csv.Object.Name, csv.Pos,
			"the bundle has another ClusterServiceVersion in %s, which would silently replace %q; remove one", b.csv().Pos, csv.Object.Name))
	}
	return out
}

// servicePorts checks K201.
func servicePorts(b *Bundle) (out []Problem) {
	type port struct {
		deployment string
		number     int32
	}
	seen := map[port]string{}
	for i := range b.webhooks() {
		w := &b.webhooks()[i]
		p := servicePort(w)
		id := port{w.DeploymentName, p.Port}
		if target, ok := seen[id]; ok && target != p.TargetPort.String() {
			out = append(out, ours("servicePorts", w.GenerateName, b.csv().At(webhookPath(i)...),
				"webhook %q and another webhook use port %d of deployment %q with different target ports, %s and %s; use a different port for one of them",
				w.GenerateName, p.Port, w.DeploymentName, p.TargetPort.String(), target))
			continue
		}
		seen[id] = p.TargetPort.String()
	}
	return out
}

// crdVersions checks K212.
func crdVersions(b *Bundle) (out []Problem) {
	for i := range b.CRDs {
		crd := &b.CRDs[i]
		if v := crd.Object.APIVersion; v != apiextensionsv1.SchemeGroupVersion.String() {
			out = append(out, ours("crdVersion", crd.Object.Name, crd.At("apiVersion"),
				"OLM v1 drops the schema of CustomResourceDefinition %q, which has apiVersion %q; convert it to apiextensions.k8s.io/v1", crd.Object.Name, v))
		}
	}
	return sortProblems(out)
}

// ours returns a problem that operator-controller does not see.
func ours(code string, subject string, at fbc.Pos, format string, args ...any) Problem {
	p := invalid(code, subject, at, "", format, args...)
	p.ours = true
	return p
}
