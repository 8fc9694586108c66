package registryv1

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/olmkit/olmkit/fbc"
)

// RenderOptions are the choices of an installation.
type RenderOptions struct {
	// Namespace is the install namespace. It is required.
	Namespace string
	// Config is the configuration, spec.config.inline of a ClusterExtension, as YAML
	// or JSON. Nil means an empty one.
	Config []byte
	// Certificates provides the certificates of webhooks. With NoCertificates a bundle
	// that has webhooks is refused.
	Certificates CertProvider
	// AddNamespaces adds the install namespace, as the bundle suggests it, and the watched namespace
	// to the objects.
	AddNamespaces bool
	// BareCRDs leaves out everything of CRDs except apiVersion, kind and name, for callers
	// that only need to know which objects there are.
	BareCRDs bool
	// AsUpstream requests exactly the result of operator-controller, including that of
	// its bugs.
	AsUpstream bool
}

// Manifests are the objects that a bundle installs.
type Manifests struct {
	// Phases hold the objects in the order in which they are applied.
	Phases []Phase
	// Differences lists the objects that differ from those of operator-controller. It
	// is empty with AsUpstream.
	Differences []Difference
}

// A Difference is an object that operator-controller renders differently.
type Difference struct {
	Rule    string // the id of the rule, such as "K204"
	Object  string // apiVersion/kind/namespace/name
	Message string
}

// Objects returns all objects in the order of the phases.
func (m *Manifests) Objects() []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, p := range m.Phases {
		out = append(out, p.Objects...)
	}
	return out
}

// Render returns the objects that the bundle installs. They are sanitized and have no
// owner labels yet; see [Own]. Equal input gives equal objects in equal order. The
// error is an [*Error] with all problems, or the cause of the context's end. With
// AsUpstream, the [*Error] has only the problems that operator-controller reports.
func (b *Bundle) Render(ctx context.Context, opts RenderOptions) (*Manifests, error) { // K21
	g, problems := b.generator(ctx, opts)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(problems) == 0 {
		problems = g.generate()
	}
	var phases []Phase
	if len(problems) == 0 {
		phases, problems = g.revision()
	}
	if opts.AsUpstream {
		if err := asUpstream(problems); err != nil {
			return nil, err
		}
	} else if err := failure(problems); err != nil {
		return nil, err
	}
	return &Manifests{Phases: phases, Differences: g.differences}, nil
}

// generator checks the bundle and the options in the order of K21.
func (b *Bundle) generator(ctx context.Context, opts RenderOptions) (*generator, []Problem) {
	problems := b.unsupported(opts.Certificates)
	config, bad := b.config(ctx, opts.Namespace, opts.Config, opts.AsUpstream)
	problems = append(problems, bad...)
	if !opts.AsUpstream {
		problems = append(problems, b.Validate()...)
	} else {
		problems = append(problems, b.validate()...)
		problems = slices.DeleteFunc(problems, func(p Problem) bool { return p.ours })
	}
	if errs := validation.IsDNS1123Label(opts.Namespace); len(errs) > 0 {
		problems = append(problems, Problem{Stage: StageOptions, Code: "namespace", Subject: opts.Namespace,
			Message: "the install namespace is invalid: " + strings.Join(errs, "; ")})
	}
	return &generator{bundle: b, csv: b.CSV(), opts: opts, target: config.watchNamespace, config: config.deployment}, problems
}

// unsupported returns why OLM v1 does not install bundles like this one (K21).
func (b *Bundle) unsupported(certificates CertProvider) (out []Problem) {
	refuse := func(code string, at fbc.Pos, peer, message string) {
		classic := code != "installModes" || b.supports(v1alpha1.InstallModeTypeMultiNamespace)
		out = append(out, Problem{Stage: StageUnsupported, Code: code, Pos: at, Message: message, OnlyV1: classic, peerMessage: "unsupported bundle: " + peer})
	}
	csv := b.csv()
	if len(csv.Object.Spec.APIServiceDefinitions.Owned) > 0 {
		refuse("apiServices", csv.At("spec", "apiservicedefinitions", "owned"), "apiServiceDefintions are not supported",
			"the bundle owns API services, which OLM v1 does not support")
	}
	if len(csv.Object.Spec.WebhookDefinitions) > 0 && certificates == NoCertificates {
		refuse("webhooks", csv.At("spec", "webhookdefinitions"), "webhookDefinitions are not supported",
			"the bundle has webhooks, which need a certificate provider")
	}
	if !b.supports(v1alpha1.InstallModeTypeAllNamespaces) && !b.supports(v1alpha1.InstallModeTypeSingleNamespace) && !b.supports(v1alpha1.InstallModeTypeOwnNamespace) {
		refuse("installModes", csv.At("spec", "installModes"), "bundle must support at least one of [AllNamespaces SingleNamespace OwnNamespace] install modes",
			"the bundle supports none of the install modes AllNamespaces, SingleNamespace and OwnNamespace")
	}
	return out
}

// A generator generates the objects of one installation.
type generator struct {
	bundle *Bundle
	csv    *v1alpha1.ClusterServiceVersion
	opts   RenderOptions
	target string // the watched namespace; "" for all (K30)
	config *v1alpha1.SubscriptionConfig

	objects     []*unstructured.Unstructured
	problems    []Problem
	differences []Difference
}

// generate generates all objects, in the order of K32.
func (g *generator) generate() []Problem {
	if g.target != "" && !g.opts.AsUpstream {
		for _, p := range permissionRules(g.bundle, true) {
			p.Stage = StageGenerate
			g.problems = append(g.problems, p)
		}
	}
	g.namespaces()
	g.serviceAccounts()
	g.permissions()
	g.definitions()
	g.extra()
	g.deployments()
	g.admission(v1alpha1.ValidatingAdmissionWebhook)
	g.admission(v1alpha1.MutatingAdmissionWebhook)
	g.services()
	return g.problems
}

// add converts an object from its Go type, sanitizes it, adds it and returns it.
func (g *generator) add(typed any) *unstructured.Unstructured {
	return g.converted(runtime.DefaultUnstructuredConverter.ToUnstructured(typed))
}

func (g *generator) converted(content map[string]any, err error) *unstructured.Unstructured {
	if err != nil {
		g.problems = append(g.problems, Problem{Stage: StageGenerate, Code: "manifest", Message: err.Error()})
		return &unstructured.Unstructured{}
	}
	return g.addObject(&unstructured.Unstructured{Object: content})
}

func (g *generator) addObject(o *unstructured.Unstructured) *unstructured.Unstructured {
	sanitize(o.Object)
	g.objects = append(g.objects, o)
	return o
}

func (g *generator) differs(rule string, o *unstructured.Unstructured, message string) {
	g.differences = append(g.differences, Difference{rule, Key(o), message})
}

// sanitize removes the fields of an object that are not applied (K50).
func sanitize(o map[string]any) {
	delete(o, "status")
	meta, ok := o["metadata"].(map[string]any)
	if !ok {
		return
	}
	clean := map[string]any{}
	for _, field := range []string{"name", "namespace", "labels", "annotations"} {
		switch v := meta[field].(type) {
		case nil:
		case map[string]any:
			delete(v, corev1.LastAppliedConfigAnnotation)
			if len(v) > 0 {
				clean[field] = v
			}
		case string:
			if v != "" {
				clean[field] = v
			}
		default:
			clean[field] = v
		}
	}
	o["metadata"] = clean
}

func (g *generator) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: g.opts.Namespace}
}

func typeOf(apiVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
}

// namespaceTemplate is the annotation of a CSV with the Namespace that it suggests.
const namespaceTemplate = "operatorframework.io/suggested-namespace-template"

// namespaces adds the namespaces, if requested (K204). The install namespace has the labels and
// annotations that the bundle suggests.
func (g *generator) namespaces() {
	if !g.opts.AddNamespaces {
		return
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values([]string{g.opts.Namespace, g.target}))) {
		if name == "" {
			continue
		}
		o := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name},
		}}
		var template metav1.PartialObjectMetadata
		text := g.csv.Annotations[namespaceTemplate]
		if name == g.opts.Namespace && json.Unmarshal([]byte(text), &template) == nil && template.Kind == "Namespace" {
			o.SetLabels(template.Labels)
			o.SetAnnotations(template.Annotations)
		}
		g.addObject(o)
	}
}

// definitions adds the CRDs, with their conversion webhooks (K40).
func (g *generator) definitions() {
	for i := range g.bundle.CRDs {
		m := &g.bundle.CRDs[i]
		crd := m.Object
		crd.TypeMeta = typeOf(apiextensionsv1.SchemeGroupVersion.String(), crd.Kind)
		w := g.converter(crd.Name)
		if w != nil {
			if crd.Spec.PreserveUnknownFields {
				peer := "custom resource definition '" + crd.Name + "' must have .spec.preserveUnknownFields set to false to let API Server call webhook to do the conversion"
				none := ""
				g.problems = append(g.problems, Problem{Stage: StageGenerate, Code: "preserveUnknownFields", Subject: crd.Name, Pos: m.At("spec", "preserveUnknownFields"),
					Message: "CustomResourceDefinition \"" + crd.Name + "\" has a conversion webhook, so its preserveUnknownFields must be false", peerSubject: &none, peerMessage: peer})
				continue
			}
		}
		if g.opts.BareCRDs {
			crd.ObjectMeta, crd.Spec = metav1.ObjectMeta{Name: crd.Name}, apiextensionsv1.CustomResourceDefinitionSpec{}
		} else if w != nil {
			crd.Spec.Conversion = g.conversion(w)
			crd.Annotations = g.injectCA(w.DeploymentName, crd.Annotations)
		}
		o := g.converted(toCRD(&crd))
		if w != nil {
			g.portDiffers(w, o)
		}
	}
}

// extra adds the other manifests (K41, K205).
func (g *generator) extra() {
	for i := range g.bundle.Others {
		o := g.bundle.Others[i].Object.DeepCopy()
		if !g.opts.AsUpstream && o.GetKind() == "VerticalPodAutoscaler" {
			if o.GetNamespace() != g.opts.Namespace {
				o.SetNamespace(g.opts.Namespace)
				g.differs("K205", o, "is in the install namespace, because its kind is namespaced")
			}
		} else if extraScope(o.GetKind()) == namespaced {
			o.SetNamespace(g.opts.Namespace)
		}
		if o.GetAPIVersion() == "" {
			none := ""
			g.problems = append(g.problems, Problem{Stage: StageRevision, Code: "apiVersion", Subject: o.GetKind() + "/" + o.GetName(), Pos: g.bundle.Others[i].Pos,
				Message: o.GetKind() + " \"" + o.GetName() + "\" has no apiVersion", peerSubject: &none,
				peerMessage: "revision: Object 'apiVersion' is missing in 'unstructured object has no version'"})
		}
		g.addObject(o)
	}
}
