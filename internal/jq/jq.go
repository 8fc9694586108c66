// Package jq builds command lines of jq that edit JSON documents in files, to paste into a shell.
package jq

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/internal/shell"
)

// Select returns the filter that selects the objects in a list with these fields. A field with a zero
// value may also be absent.
func Select(list string, fields map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at, x := "."+name, fields[name]
		if x == "" || x == false {
			at = "(" + at + " // " + text(x) + ")"
		}
		parts = append(parts, at+" == "+text(x))
	}
	return list + " | select(" + strings.Join(parts, " and ") + ")"
}

// Assign returns the filter that sets a field of what another filter selects.
func Assign(selected, field string, value any) string {
	return "(" + selected + ")." + field + " = " + text(value)
}

// Replace returns the filter that sets a field of what another filter selects, instead of an old field.
func Replace(selected, old, field string, value any) string {
	return "(" + selected + ") |= (del(." + old + ") | ." + field + " = " + text(value) + ")"
}

// Edit returns the command that applies a filter to the documents in a file whose id has a value, or to
// all if id is empty. For standard input, "-", it is a filter, too.
func Edit(file, id, filter string) string {
	if id != "" {
		filter = "if .id == " + text(id) + " then " + filter + " else . end"
	}
	command := "jq " + shell.Quote(filter)
	if file == "-" {
		return command
	}
	if strings.HasPrefix(file, "-") {
		file = "./" + file
	}
	file, edited := shell.Quote(file), shell.Quote(file+".new")
	return command + " " + file + " > " + edited + " && mv " + edited + " " + file
}

func text(scalar any) string {
	text, err := json.Marshal(scalar)
	if err != nil {
		return "" // never: values are strings and booleans
	}
	return string(text)
}
