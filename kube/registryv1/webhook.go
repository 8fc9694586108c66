package registryv1

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// defaultPort is the port of webhooks that set no containerPort.
const defaultPort = 443

// serviceName returns the name of the service of a deployment (K43).
func serviceName(deployment string) string {
	return joinName(strings.ReplaceAll(deployment, ".", "-"), "service")
}

// servicePort returns the port of a webhook in its service (K43).
func servicePort(w *v1alpha1.WebhookDescription) corev1.ServicePort {
	port := int32(defaultPort)
	if w.ContainerPort > 0 {
		port = w.ContainerPort
	}
	target := intstr.FromInt32(port)
	if w.TargetPort != nil {
		target = *w.TargetPort
	}
	return corev1.ServicePort{Name: strconv.Itoa(int(port)), Port: port, TargetPort: target}
}

// port returns the port at which the API server calls a webhook: the one in the
// webhook's description (K44), or 443 if it sets none (K206).
func (g *generator) port(w *v1alpha1.WebhookDescription) *int32 {
	port := w.ContainerPort
	if port == 0 && !g.opts.AsUpstream {
		port = defaultPort
	}
	return &port
}

func (g *generator) portDiffers(w *v1alpha1.WebhookDescription, o *unstructured.Unstructured) {
	if w.ContainerPort == 0 && !g.opts.AsUpstream {
		g.differs("K206", o, "has port 443, because the webhook has no containerPort; OLM v1 writes port 0, which the API server refuses")
	}
}

// services adds the services of webhooks and their certificates (K43, K47, K48).
func (g *generator) services() {
	ports := map[string][]corev1.ServicePort{}
	for i := range g.csv.Spec.WebhookDefinitions {
		w := &g.csv.Spec.WebhookDefinitions[i]
		if p := servicePort(w); !slices.Contains(ports[w.DeploymentName], p) {
			ports[w.DeploymentName] = append(ports[w.DeploymentName], p)
		}
	}
	for _, d := range g.strategy().DeploymentSpecs {
		list := ports[d.Name]
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(a, b corev1.ServicePort) int {
			return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.TargetPort.IntValue(), b.TargetPort.IntValue()), cmp.Compare(a.TargetPort.StrVal, b.TargetPort.StrVal))
		})
		name := serviceName(d.Name)
		meta := g.meta(name)
		meta.Annotations = g.serving(name)
		spec := corev1.ServiceSpec{Ports: list}
		if d.Spec.Selector != nil {
			spec.Selector = d.Spec.Selector.MatchLabels
		}
		g.add(&corev1.Service{TypeMeta: typeOf("v1", "Service"), ObjectMeta: meta, Spec: spec})
		g.certificate(name)
	}
}

// converter returns the conversion webhook of a CRD, or nil.
func (g *generator) converter(crd string) *v1alpha1.WebhookDescription {
	for i := range g.csv.Spec.WebhookDefinitions {
		w := &g.csv.Spec.WebhookDefinitions[i]
		if w.Type == v1alpha1.ConversionWebhook && slices.Contains(w.ConversionCRDs, crd) {
			return w
		}
	}
	return nil
}

func (g *generator) conversion(w *v1alpha1.WebhookDescription) *apiextensionsv1.CustomResourceConversion {
	path := "/"
	if w.WebhookPath != nil {
		path = *w.WebhookPath
	}
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{
				Namespace: g.opts.Namespace, Name: serviceName(w.DeploymentName), Path: &path, Port: g.port(w),
			}},
			ConversionReviewVersions: w.AdmissionReviewVersions,
		},
	}
}

// admission adds the admission webhooks of a type (K44).
func (g *generator) admission(typ v1alpha1.WebhookAdmissionType) {
	for i := range g.csv.Spec.WebhookDefinitions {
		w := &g.csv.Spec.WebhookDefinitions[i]
		if w.Type != typ {
			continue
		}
		name := strings.TrimSuffix(w.GenerateName, "-")
		meta := metav1.ObjectMeta{Name: name, Annotations: g.injectCA(w.DeploymentName, nil)}
		if g.opts.AsUpstream { // K207
			meta.Namespace = g.opts.Namespace
		}
		service := admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{
			Namespace: g.opts.Namespace, Name: serviceName(w.DeploymentName), Path: w.WebhookPath, Port: g.port(w),
		}}
		group := admissionv1.SchemeGroupVersion.String()
		var o *unstructured.Unstructured
		if typ == v1alpha1.ValidatingAdmissionWebhook {
			o = g.add(&admissionv1.ValidatingWebhookConfiguration{
				TypeMeta: typeOf(group, "ValidatingWebhookConfiguration"), ObjectMeta: meta,
				Webhooks: []admissionv1.ValidatingWebhook{{
					Name: name, ClientConfig: service, Rules: w.Rules, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
					NamespaceSelector: g.selector(), ObjectSelector: w.ObjectSelector, SideEffects: w.SideEffects,
					TimeoutSeconds: w.TimeoutSeconds, AdmissionReviewVersions: w.AdmissionReviewVersions,
				}},
			})
		} else {
			o = g.add(&admissionv1.MutatingWebhookConfiguration{
				TypeMeta: typeOf(group, "MutatingWebhookConfiguration"), ObjectMeta: meta,
				Webhooks: []admissionv1.MutatingWebhook{{
					Name: name, ClientConfig: service, Rules: w.Rules, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
					NamespaceSelector: g.selector(), ObjectSelector: w.ObjectSelector, SideEffects: w.SideEffects,
					TimeoutSeconds: w.TimeoutSeconds, AdmissionReviewVersions: w.AdmissionReviewVersions,
					ReinvocationPolicy: w.ReinvocationPolicy,
				}},
			})
		}
		if !g.opts.AsUpstream {
			g.differs("K207", o, "has no namespace, because its kind is cluster-scoped")
			g.portDiffers(w, o)
		}
	}
}

// selector returns a selector of the namespaces in which webhooks apply, or nil for
// all namespaces.
func (g *generator) selector() *metav1.LabelSelector {
	if g.target == "" {
		return nil
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: []string{g.target},
	}}}
}
