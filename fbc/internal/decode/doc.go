// Package decode reads the text of catalog files: a [Splitter] cuts files into documents,
// and a [Reader] turns a document into JSON and finds the fields that blobs have. Package
// fbc turns these into blobs.
package decode
