// Package yamljson turns one YAML document into JSON, quickly when the document is regular.
//
// File-based catalogs are YAML, and nearly all of that YAML was written by a program: block mappings, block
// sequences, scalars on one or a few lines, literal text. Such a document needs no token queue, no tree and no maps to
// become JSON; one pass over its bytes is enough. [Convert] is that pass:
//
//	out, ok := yamljson.Convert(nil, []byte("name: etcd\nskips:\n- etcd.v1\n"), nil)
//	// out is {"name":"etcd","skips":["etcd.v1"]}, ok is true
//
// It knows a subset of YAML. Where a document leaves the subset, Convert reports that instead of guessing, and the caller
// asks [Slow], which has the full parser:
//
//	out, ok := yamljson.Convert(buf, doc, opts)
//	if !ok {
//		out, err = yamljson.Slow(ctx, doc, opts)
//	}
//
// The meaning of a document is what sigs.k8s.io/yaml v1.6.0 makes of it, YAML 1.1 and all: `yes` is true, `0777` is
// 511, `1e3` is 1000, `2001-01-01` is a string. When Convert reports ok, its output decodes to the same JSON value as
// YAMLToJSON's; only the order of object keys differs, which is the order of the document, not the alphabet.
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
// All YAML that olmkit reads goes through this package, because a little of it can stand for a lot: what aliases expand
// to, and how many nodes a document has, is bounded before anything is built (S1). [JSON] takes a document that may be
// JSON as well, [Stream] cuts a stream into documents, and [Tree] is for what has to know about lines.
//
// # Skipping
//
// A catalog's bulk sits in properties that its reader may not want (the descriptions of a CSV, say). [Options.SkipValue]
// names them by type; their values are stepped over line by line and become null, unchecked.
package yamljson
