// Package kubectl builds command lines of kubectl, to paste into a shell.
package kubectl

import (
	"strings"

	"github.com/go-json-experiment/json"
)

// Patch returns the command that merges spec into the spec of an object. A nil value in spec
// removes the field. namespace is "" for a cluster-scoped object.
func Patch(resource, namespace, name string, spec map[string]any) string {
	text, err := json.Marshal(map[string]any{"spec": spec}, json.Deterministic(true))
	if err != nil {
		return "" // never: specs hold only strings, numbers and lists of strings
	}
	return object("patch", resource, namespace, name) + " --type merge --patch " + quote(string(text))
}

// Delete returns the command that deletes an object.
func Delete(resource, namespace, name string) string {
	return object("delete", resource, namespace, name)
}

func object(verb, resource, namespace, name string) string {
	text := "kubectl " + verb + " " + resource + " " + quote(name)
	if namespace != "" {
		text += " -n " + quote(namespace)
	}
	return text
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
