package sidebyside

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

type (
	obj  = map[string]any
	list = []any
)

// A gvk is a group, a version and a kind.
type gvk [3]string

func (g gvk) crd() string { return strings.ToLower(g[2]) + "s." + g[0] }

func crd(group, kind string, versions ...string) obj {
	if len(versions) == 0 {
		versions = []string{"v1"}
	}
	return crdOf(group, kind, obj{"type": "object", "x-kubernetes-preserve-unknown-fields": true}, versions...)
}

// crdOf returns a CRD whose spec has a schema. It stores objects in the last version.
func crdOf(group, kind string, schema obj, versions ...string) obj {
	lower := strings.ToLower(kind)
	var served list
	for i, v := range versions {
		served = append(served, obj{
			"name": v, "served": true, "storage": i == len(versions)-1, "subresources": obj{"status": obj{}},
			"schema": obj{"openAPIV3Schema": obj{"type": "object", "properties": obj{
				"spec": schema, "status": obj{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
			}}},
		})
	}
	return obj{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": obj{"name": lower + "s." + group},
		"spec": obj{
			"group": group, "scope": "Namespaced", "versions": served,
			"names": obj{"plural": lower + "s", "singular": lower, "kind": kind, "listKind": kind + "List"},
		},
	}
}

var installModes = []string{"OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"}

// A csv describes an operator with one deployment.
type csv struct {
	pkg, version      string
	owned, required   []gvk
	modes             []string // default: all
	replaces, minKube string
	image             string // default: registry.example/op
	namespaced        bool   // it needs no cluster permissions
	cleanup           bool
	annotations       obj
	webhooks, apis    list
}

func (c csv) name() string { return c.pkg + ".v" + c.version }

func (c csv) object() obj {
	descriptions := func(of []gvk) list {
		out := list{}
		for _, g := range of {
			out = append(out, obj{"name": g.crd(), "version": g[1], "kind": g[2], "displayName": g[2], "description": g[2]})
		}
		return out
	}
	modes := list{}
	for _, m := range installModes {
		modes = append(modes, obj{"type": m, "supported": c.modes == nil || slices.Contains(c.modes, m)})
	}
	if c.image == "" {
		c.image = "registry.example/op"
	}
	image, account, deployment := c.image+":"+c.version, c.pkg+"-sa", c.pkg+"-controller"
	permissions := func(verbs list, resources ...any) list {
		return list{obj{"serviceAccountName": account, "rules": list{obj{"apiGroups": list{""}, "resources": resources, "verbs": verbs}}}}
	}
	install := obj{
		"deployments": list{obj{"name": deployment, "label": obj{"app": deployment}, "spec": obj{
			"replicas": 1, "selector": obj{"matchLabels": obj{"app": deployment}},
			"template": obj{"metadata": obj{"labels": obj{"app": deployment}}, "spec": obj{
				"serviceAccountName": account,
				"containers": list{obj{
					"name": "manager", "image": image, "ports": list{obj{"containerPort": 9443}},
					"env": list{obj{"name": "WATCH_NAMESPACE", "valueFrom": obj{"fieldRef": obj{"fieldPath": "metadata.annotations['olm.targetNamespaces']"}}}},
				}},
			}},
		}}},
		"permissions": permissions(list{"get", "list", "watch", "create"}, "configmaps", "pods"),
	}
	if !c.namespaced {
		install["clusterPermissions"] = permissions(list{"get", "list"}, "nodes")
	}
	spec := obj{
		"displayName": strings.ToUpper(c.pkg[:1]) + c.pkg[1:] + " operator", "description": "Plays an operator.", "version": c.version, "maturity": "stable",
		"keywords": list{"play"}, "provider": obj{"name": "Example"}, "maintainers": list{obj{"name": "x", "email": "x@example.com"}},
		"icon": list{obj{"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}}, "links": list{obj{"name": "home", "url": "https://example.com"}},
		"installModes":              modes,
		"customresourcedefinitions": obj{"owned": descriptions(c.owned), "required": descriptions(c.required)},
		"install":                   obj{"strategy": "deployment", "spec": install},
		"relatedImages":             list{obj{"name": "manager", "image": image}},
	}
	if c.replaces != "" {
		spec["replaces"] = c.replaces
	}
	if c.minKube != "" {
		spec["minKubeVersion"] = c.minKube
	}
	if c.webhooks != nil {
		spec["webhookdefinitions"] = c.webhooks
	}
	if c.apis != nil {
		spec["apiservicedefinitions"] = obj{"owned": c.apis, "required": list{}}
	}
	if c.cleanup {
		spec["cleanup"] = obj{"enabled": true}
	}
	annotations := obj{"alm-examples": "[]", "capabilities": "Basic Install"}
	for k, v := range c.annotations {
		annotations[k] = v
	}
	return obj{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "spec": spec,
		"metadata": obj{"name": c.name(), "namespace": "placeholder", "annotations": annotations, "labels": obj{"operatorframework.io/arch.amd64": "supported"}},
	}
}

// bundle returns the bundle of an operator with its CRDs and other objects inline.
// Properties are added to those that follow from the CSV.
func (c csv) bundle(properties list, objects ...obj) obj {
	all := list{obj{"type": "olm.package", "value": obj{"packageName": c.pkg, "version": c.version}}}
	add := func(kind string, group, version, name string) {
		all = append(all, obj{"type": kind, "value": obj{"group": group, "version": version, "kind": name}})
	}
	for _, g := range c.owned {
		add("olm.gvk", g[0], g[1], g[2])
	}
	for _, a := range c.apis {
		a := a.(obj)
		add("olm.gvk", a["group"].(string), a["version"].(string), a["kind"].(string))
	}
	for _, g := range c.required {
		add("olm.gvk.required", g[0], g[1], g[2])
	}
	all = append(all, properties...)
	for _, o := range append([]obj{c.object()}, objects...) {
		text, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		all = append(all, obj{"type": "olm.bundle.object", "value": obj{"data": base64.StdEncoding.EncodeToString(text)}})
	}
	return obj{"schema": "olm.bundle", "name": c.name(), "package": c.pkg, "properties": all}
}

// change changes the CSV in a bundle.
func change(bundle obj, by func(csv obj)) {
	for _, p := range bundle["properties"].(list) {
		value, ok := p.(obj)["value"].(obj)
		data, isObject := value["data"].(string)
		if !ok || !isObject {
			continue
		}
		var o obj
		text, err := base64.StdEncoding.DecodeString(data)
		if err == nil {
			err = json.Unmarshal(text, &o)
		}
		if err != nil {
			panic(err)
		}
		if o["kind"] != "ClusterServiceVersion" {
			continue
		}
		by(o)
		if text, err = json.Marshal(o); err != nil {
			panic(err)
		}
		value["data"] = base64.StdEncoding.EncodeToString(text)
	}
}

// A channel has entries, which are names followed by the name that they replace, if any, and
// the name that they skip, if any.
type channel struct {
	name    string
	entries [][]string
}

// pkg returns a package with its channels. The first one is the default, unless another has
// the name stable.
func pkg(name string, channels ...channel) []obj {
	def := channels[0].name
	var out []obj
	for _, c := range channels {
		if c.name == "stable" {
			def = c.name
		}
		entries := list{}
		for _, e := range c.entries {
			entry := obj{"name": e[0]}
			if len(e) > 1 && e[1] != "" {
				entry["replaces"] = e[1]
			}
			if len(e) > 2 {
				entry["skips"] = list{e[2]}
			}
			entries = append(entries, entry)
		}
		out = append(out, obj{"schema": "olm.channel", "name": c.name, "package": name, "entries": entries})
	}
	return append([]obj{{"schema": "olm.package", "name": name, "defaultChannel": def}}, out...)
}

// hooks returns the webhooks of an operator, with one that converts the named CRDs, if any.
func hooks(pkg string, converts ...string) list {
	hook := func(kind, name, path string, more obj) obj {
		out := obj{
			"type": kind, "generateName": name, "webhookPath": path, "admissionReviewVersions": list{"v1"}, "containerPort": 443, "targetPort": 9443,
			"deploymentName": pkg + "-controller", "sideEffects": "None",
		}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	rules := list{obj{"apiGroups": list{"x.example.com"}, "apiVersions": list{"v1"}, "operations": list{"CREATE", "UPDATE"}, "resources": list{"widgets"}}}
	out := list{
		hook("ValidatingAdmissionWebhook", "v"+pkg+".kb.io", "/validate", obj{"failurePolicy": "Ignore", "rules": rules}),
		hook("MutatingAdmissionWebhook", "m"+pkg+".kb.io", "/mutate", obj{
			"failurePolicy": "Ignore", "rules": rules, "reinvocationPolicy": "IfNeeded", "objectSelector": obj{"matchLabels": obj{"a": "b"}},
		}),
	}
	if len(converts) > 0 {
		out = append(out, hook("ConversionWebhook", "c"+pkg+".kb.io", "/convert", obj{"conversionCRDs": converts}))
	}
	return out
}
