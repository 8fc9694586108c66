// Package browsertest opens the page of olmkit view in a real Chromium: what a
// hostile catalog can do there, whether keys and screen readers get everywhere,
// whether colors can be read, and how long a large catalog takes.
//
//	make setup                             # in the root directory, installs Chromium
//	go test .
//	go test . -run Screenshots -screenshots /tmp/shots
//
// There is nothing to import.
package browsertest
