// Package kubectl builds command lines of kubectl, and of jq for documents that are not in a
// cluster, to paste into a shell.
package kubectl

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Patch returns the command that merges spec into the spec of an object. A nil value in spec
// removes the field. namespace is "" for a cluster-scoped object.
func Patch(resource, namespace, name string, spec map[string]any) string {
	return object("patch", resource, namespace, name) + " --type merge --patch " + quote(text(map[string]any{"spec": spec}))
}

// Recreate returns the command that merges spec into the spec of an object that must be deleted for
// this, because a field is immutable.
func Recreate(resource, namespace, name string, spec map[string]any) string {
	return object("get", resource, namespace, name) + " -o json | kubectl patch --local -f - --type merge --patch " +
		quote(text(map[string]any{"spec": spec})) + " -o json | kubectl replace --force -f -"
}

// PatchStatus returns the command that merges status into the status of an object.
func PatchStatus(resource, namespace, name string, status map[string]any) string {
	return object("patch", resource, namespace, name) + " --subresource=status --type merge --patch " + quote(text(map[string]any{"status": status}))
}

// PatchOnly returns the command that merges spec into the spec of the only object of a kind in a
// namespace.
func PatchOnly(resource, namespace string, spec map[string]any) string {
	in := " -n " + quote(namespace)
	return "kubectl get " + resource + in + " -o name | xargs kubectl patch" + in + " --type merge --patch " + quote(text(map[string]any{"spec": spec}))
}

// Apply returns the command that creates an object.
func Apply(object map[string]any) string {
	return "echo " + quote(text(object)) + " | kubectl apply -f -"
}

// Copy returns the command that creates an object with the spec of another of the same kind and name.
// copied has everything but the spec.
func Copy(resource, namespace, name string, copied map[string]any) string {
	head := strings.TrimSuffix(text(copied), "}") + `,"spec":`
	return "echo " + quote(head) + `"$(` + object("get", resource, namespace, name) + " -o jsonpath={.spec})\"'}' | kubectl apply -f -"
}

// Select returns the filter of jq that selects the objects in a list with these fields. Zero values
// do not matter.
func Select(list string, fields map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if x := fields[name]; x != "" && x != false {
			parts = append(parts, "."+name+" == "+text(x))
		}
	}
	return list + " | select(" + strings.Join(parts, " and ") + ")"
}

// Assign returns the filter of jq that sets a field of what another filter selects.
func Assign(selected, field string, value any) string {
	return "(" + selected + ")." + field + " = " + text(value)
}

// Edit returns the command that applies a filter of jq to the documents in a file whose id has a
// value, or to all if id is empty. For standard input, "-", it is a filter, too.
func Edit(file, id, filter string) string {
	if id != "" {
		filter = "if .id == " + text(id) + " then " + filter + " else . end"
	}
	command := "jq " + quote(filter)
	if file == "-" {
		return command
	}
	if strings.HasPrefix(file, "-") {
		file = "./" + file
	}
	return command + " " + quote(file) + " > " + quote(file+".new") + " && mv " + quote(file+".new") + " " + quote(file)
}

func text(object any) string {
	text, err := json.Marshal(object, json.Deterministic(true))
	if err != nil {
		return "" // never: values are strings, numbers, booleans, and maps and lists of these
	}
	return string(text)
}

// Delete returns the command that deletes an object.
func Delete(resource, namespace, name string) string {
	return object("delete", resource, namespace, name)
}

func object(verb, resource, namespace, name string) string {
	command := "kubectl " + verb + " " + resource + " " + quote(name)
	if namespace != "" {
		command += " -n " + quote(namespace)
	}
	return command
}

// quote quotes a word for a shell.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_./:@,=+", r)
	}
	if word != "" && word[0] != '-' && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
