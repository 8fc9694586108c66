// Package yamlout represents JSON values as trees and writes them as JSON or as
// YAML in a fixed style: block mappings and sequences, sequences at the column
// of their key, literal blocks for texts of several lines, plain scalars where
// they are unambiguous, and double quotes otherwise.
//
// sigs.k8s.io/yaml reads the output as the same value, even with YAML 1.1 rules, with one
// unavoidable exception: the notation of a number may change (4.10 to 4.1). Callers to
// whom this matters must compare the values.
package yamlout
