// Package kubectl builds command lines of kubectl, to paste into a shell.
package kubectl

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/internal/shell"
)

// Patch returns the command that merges spec into the spec of an object. A nil value in spec
// removes the field. namespace is "" for a cluster-scoped object.
func Patch(resource, namespace, name string, spec map[string]any) string {
	return object("patch", resource, namespace, name) + " --type merge --patch " + shell.Quote(text(map[string]any{"spec": spec}))
}

// Recreate returns the command that merges spec into the spec of an object that must be deleted for
// this, because a field is immutable. Without a spec, it only recreates the object.
func Recreate(resource, namespace, name string, spec map[string]any) string {
	if spec == nil {
		return object("get", resource, namespace, name) + " -o json | kubectl replace --force -f -"
	}
	return object("get", resource, namespace, name) + " -o json | kubectl patch --local -f - --type merge --patch " +
		shell.Quote(text(map[string]any{"spec": spec})) + " -o json | kubectl replace --force -f -"
}

// PatchStatus returns the command that merges status into the status of an object.
func PatchStatus(resource, namespace, name string, status map[string]any) string {
	return object("patch", resource, namespace, name) + " --subresource=status --type merge --patch " + shell.Quote(text(map[string]any{"status": status}))
}

// Annotate returns the command that sets an annotation, given as NAME=VALUE, or removes one, given as NAME-.
func Annotate(resource, namespace, name, annotation string) string {
	return object("annotate", resource, namespace, name) + " " + shell.Quote(annotation)
}

// PatchOnly returns the command that merges spec into the spec of the only object of a kind in a
// namespace.
func PatchOnly(resource, namespace string, spec map[string]any) string {
	in := " -n " + shell.Quote(namespace)
	return "kubectl get " + resource + in + " -o name | xargs kubectl patch" + in + " --type merge --patch " + shell.Quote(text(map[string]any{"spec": spec}))
}

// Apply returns the command that creates an object.
func Apply(object map[string]any) string {
	return "echo " + shell.Quote(text(object)) + " | kubectl apply -f -"
}

// Image stands for the image in an object of [ApplyImage].
const Image = "IMAGE"

// ApplyImage returns the command that creates an object whose spec has the image of a catalog, which the shell takes from
// its variable IMAGE. Without the variable, the command fails and states what to set it to.
func ApplyImage(object map[string]any) string {
	const value = `"` + Image + `"`
	o := text(object)
	i := strings.LastIndex(o, value) // names come before the spec
	before, after := o[:i], o[i+len(value):]
	return "echo " + shell.Quote(before+`"`) + `"${IMAGE:?set it to the image of the catalog}"` + shell.Quote(`"`+after) + " | kubectl apply -f -"
}

// Copy returns the command that creates an object with the spec of another of the same kind and name.
// copied has everything but the spec.
func Copy(resource, namespace, name string, copied map[string]any) string {
	head := strings.TrimSuffix(text(copied), "}") + `,"spec":`
	return "echo " + shell.Quote(head) + `"$(` + object("get", resource, namespace, name) + " -o jsonpath={.spec})\"'}' | kubectl apply -f -"
}

func text(object map[string]any) string {
	text, err := json.Marshal(object, json.Deterministic(true))
	if err != nil {
		return "" // never: objects hold only strings, numbers, maps and lists of strings
	}
	return string(text)
}

// Delete returns the command that deletes objects of one kind.
func Delete(resource, namespace string, names ...string) string {
	return object("delete", resource, namespace, names...)
}

// Describe returns the command that describes an object with its events.
func Describe(resource, namespace, name string) string {
	return object("describe", resource, namespace, name)
}

// List returns the command that lists the objects of a kind in a namespace.
func List(resource, namespace string) string {
	return "kubectl get " + resource + " -n " + shell.Quote(namespace)
}

// All returns the command that prints the objects of a kind in all namespaces as YAML.
func All(resource string) string {
	return "kubectl get " + shell.Quote(resource) + " --all-namespaces -o yaml"
}

// Labeled returns the command that applies a verb, such as get, to the objects of a kind in a namespace that have a
// label, with any value if value is empty.
func Labeled(verb, resource, namespace, label, value string) string {
	if value != "" {
		label += "=" + value
	}
	return "kubectl " + verb + " " + resource + " -n " + shell.Quote(namespace) + " -l " + shell.Quote(label)
}

func object(verb, resource, namespace string, names ...string) string {
	command := "kubectl " + verb + " " + resource
	for _, name := range names {
		command += " " + shell.Quote(name)
	}
	if namespace != "" {
		command += " -n " + shell.Quote(namespace)
	}
	return command
}
