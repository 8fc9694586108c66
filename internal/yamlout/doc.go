// Package yamlout holds JSON values as trees and writes them as JSON or as YAML
// of one style: block mappings and sequences, sequences at the column of their
// key, literal blocks for text of several lines, plain scalars where nobody can
// read anything else in them, and double quotes otherwise.
//
// It writes what sigs.k8s.io/yaml reads back as the same value, YAML 1.1 and
// all, with one exception that YAML makes inevitable: numbers may come back in
// another notation (4.10 as 4.1). Callers who care compare.
package yamlout
