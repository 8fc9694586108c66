package registryv1

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
)

// The field of the configuration with the namespace that the operator watches, and its formats
// (K26).
const (
	watchNamespace        = "watchNamespace"
	ownNamespaceFormat    = "ownNamespaceInstallMode"
	singleNamespaceFormat = "singleNamespaceInstallMode"
)

// componentPrefix begins references to the schemas in components.json.
const componentPrefix = "#/components/schemas/"

// components.json holds the schemas of env, volumes and the other fields of a
// deployment's configuration: those of Kubernetes v1.36.3
// (api/openapi-spec/v3/api__v1_openapi.json), without descriptions, defaults and
// extensions.
//
//go:embed components.json
var componentsJSON []byte

// components returns the schemas in components.json. They must not be modified.
var components = sync.OnceValue(func() map[string]any {
	var out map[string]any
	if err := json.Unmarshal(componentsJSON, &out); err != nil {
		panic(err) // the file is part of the program
	}
	return out
})

// ConfigSchema returns the JSON schema (draft 7) of the bundle's configuration, the
// field spec.config.inline of a ClusterExtension, indented. It depends on
// the install modes that the bundle supports and, unless that is empty, on the install namespace.
func (b *Bundle) ConfigSchema(namespace string) []byte { // K23 to K27
	schema := b.schema()
	if watch, ok := schema["properties"].(map[string]any)[watchNamespace].(map[string]any); ok {
		standard(watch, namespace)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(schema); err != nil {
		panic(err) // cannot happen: the schema consists of maps, lists and strings
	}
	return out.Bytes()
}

func (b *Bundle) schema() map[string]any {
	properties := map[string]any{"deploymentConfig": deploymentSchema()}
	out := map[string]any{
		"$schema":              "http://json-schema.org/draft-07/schema#",
		"title":                "Configuration of a registry+v1 bundle",
		"type":                 "object",
		"properties":           properties,
		"additionalProperties": false,
		"components":           map[string]any{"schemas": components()},
	}
	if watch, required := b.watchSchema(); watch != nil {
		properties[watchNamespace] = watch
		if required {
			out["required"] = []any{watchNamespace}
		}
	}
	return out
}

// standard replaces the formats of operator-controller (K26) in the schema of watchNamespace, which
// other validators do not know, with keywords.
func standard(watch map[string]any, namespace string) {
	name := watch
	if list, ok := watch["anyOf"].([]any); ok {
		name = list[1].(map[string]any)
	}
	format := name["format"]
	delete(name, "format")
	description := watch["description"].(string)
	switch format {
	case ownNamespaceFormat:
		watch["description"] = description + " It must be the install namespace."
		if namespace != "" {
			name["const"] = namespace
		}
	case singleNamespaceFormat:
		watch["description"] = description + " It must not be the install namespace."
		if namespace != "" {
			name["not"] = map[string]any{"const": namespace}
		}
	}
}

// watchSchema returns the schema of watchNamespace, or nil if the configuration has no
// such field, and whether the field is required (K24, K25, K26, K31).
func (b *Bundle) watchSchema() (schema map[string]any, required bool) {
	own, single := b.supports(v1alpha1.InstallModeTypeOwnNamespace), b.supports(v1alpha1.InstallModeTypeSingleNamespace)
	if !own && !single {
		return nil, false
	}
	name := map[string]any{
		"type":      "string",
		"minLength": 1,
		"maxLength": 63,
		"pattern":   "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
	}
	switch {
	case !single:
		name["format"] = ownNamespaceFormat
	case !own:
		name["format"] = singleNamespaceFormat
	}
	const description = "The namespace that the operator watches."
	if !b.supports(v1alpha1.InstallModeTypeAllNamespaces) {
		name["description"] = description
		return name, true
	}
	return map[string]any{
		"description": description + " Without it, the operator watches all namespaces.",
		"anyOf":       []any{map[string]any{"type": "null"}, name},
	}, false
}

// deploymentSchema returns the schema of deploymentConfig (K27).
func deploymentSchema() map[string]any {
	one := func(kind string) map[string]any {
		return map[string]any{"$ref": componentPrefix + "io.k8s.api.core.v1." + kind}
	}
	list := func(kind string) map[string]any { return map[string]any{"type": "array", "items": one(kind)} }
	texts := func() map[string]any {
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
	}
	return map[string]any{
		"type":        "object",
		"description": "Changes to every Deployment of the operator.",
		"properties": map[string]any{
			"affinity":     one("Affinity"),
			"annotations":  texts(),
			"env":          list("EnvVar"),
			"envFrom":      list("EnvFromSource"),
			"nodeSelector": texts(),
			"resources":    one("ResourceRequirements"),
			"tolerations":  list("Toleration"),
			"volumeMounts": list("VolumeMount"),
			"volumes":      list("Volume"),
		},
		"additionalProperties": false,
	}
}
