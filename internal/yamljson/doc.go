// Package yamljson converts a YAML document to JSON, and has a fast path for documents in
// common styles.
//
// File-based catalogs are YAML, and nearly all of that YAML was written by a program: block mappings, block sequences,
// scalars on one or a few lines, literal text. Such a document can be converted to JSON in one pass over its bytes,
// without tokens, trees or maps. [Convert] is that pass:
//
//	out, ok := yamljson.Convert(nil, []byte("name: etcd\nskips:\n- etcd.v1\n"), nil)
//	// out is {"name":"etcd","skips":["etcd.v1"]}, ok is true
//
// It knows a subset of YAML. If a document is outside of the subset, Convert reports that instead of guessing. The
// caller then calls [Slow], which uses a full parser:
//
//	out, ok := yamljson.Convert(buf, doc, opts)
//	if !ok {
//		out, err = yamljson.Slow(ctx, doc, opts)
//	}
//
// Documents are interpreted as by sigs.k8s.io/yaml v1.6.0, which reads YAML 1.1: `yes` is
// true, `0777` is 511, `1e3` is 1000, and `2001-01-01` is a string. When Convert reports
// ok, its output decodes to the same JSON value as that of YAMLToJSON. The object keys
// are in the order of the document; those of YAMLToJSON are sorted.
//
// # The subset
//
// Convert reads block mappings and block sequences in all their layouts (sequences at their parent's column, compact
// `- key: value` and `- - x`), plain, single- and double-quoted scalars on one or several lines, literal and folded
// text with chomping and indentation indicators, flow collections that fit on one line and hold simple scalars,
// comments, and values left out (null).
//
// Left to Slow: anchors, aliases, tags, merge keys, `?` keys, keys that are not strings (`1:`, `yes:`), repeated keys,
// documents that are a single scalar or flow collection, document markers and directives, tabs outside of literal and
// folded text, carriage returns and the Unicode line breaks that YAML 1.1 knows, byte order marks, control characters,
// invalid UTF-8, infinities, nesting beyond a thousand levels, and anything that is an error: Convert has no
// error messages.
//
// # One door
//
// All YAML that olmkit reads goes through this package, because even a short document can
// expand to a very large value. The size of expanded aliases and the number of nodes are
// limited before anything is built (S1). [JSON] accepts YAML and JSON, [Stream] splits a
// stream into documents, and [Tree] is for callers that need line numbers.
//
// # Skipping
//
// Most of a catalog's text is in properties that its reader may not need, such as the metadata of a CSV.
// [Options.SkipValue] selects them by type. Their values are skipped line by line without being checked, and become
// null.
package yamljson
