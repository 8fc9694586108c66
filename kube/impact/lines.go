package impact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/lazyregexp"
	"github.com/olmkit/olmkit/internal/phrase"
)

// A Line states one or more changes of a class in a sentence.
type Line struct {
	Verdict Verdict
	// Code is the code of changes that are not safe.
	Code fbc.Code
	// Subject is what changes, such as "Deployment demo/controller". It is empty if Text names it.
	Subject string
	Text    string
	// Changes is the number of changes.
	Changes int
}

// String returns the line with its subject.
func (l Line) String() string {
	if l.Subject == "" {
		return l.Text
	}
	return l.Subject + ": " + l.Text
}

// Lines returns the changes of a class for readers: changes that are the same at several fields, the images,
// labels and annotations of an object, and the images of a repository are one line each. Permissions that an
// operator lacks, and dangerous ones, are the first lines of their verdict.
func (r *Report) Lines(name Class) []Line {
	c := r.Of(name)
	if c == nil {
		return nil
	}
	used := map[string]bool{} // the images of both bundles that are not the same
	if images := r.Of(Images); images != nil {
		for i := range images.Changes {
			if ref := images.Changes[i].image(); ref != "" {
				used[ref] = true
			}
		}
	}
	var keys []string
	groups := map[string][]*Change{}
	for i := range c.Changes {
		x := &c.Changes[i]
		key := x.group(used)
		if key == "" {
			key = fmt.Sprint("\x00", i) // a line for the change alone
		}
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], x)
	}
	var out []Line
	for _, key := range keys {
		out = append(out, line(groups[key], used))
	}
	slices.SortStableFunc(out, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Verdict.rank(), a.Verdict.rank()), cmp.Compare(rank(a.Code), rank(b.Code)))
	})
	return out
}

// rank orders the codes of a verdict.
func rank(code fbc.Code) int {
	switch {
	case code == codes.ImpactAccount:
		return 0
	case strings.HasPrefix(string(code), "grants-"):
		return 1
	}
	return 2
}

// group returns what a change has in common with others that are stated in one line, or "".
func (c *Change) group(images map[string]bool) string {
	switch noun, _ := c.part(images); {
	case noun != "":
		return strings.Join([]string{string(c.Verdict), string(c.Code), c.subject, noun}, "\x00")
	case c.image() != "" && c.Verdict == Safe:
		return "repository " + repository(fullName(c.image()))
	case c.newField():
		return strings.Join([]string{"new fields", c.subject}, "\x00")
	case c.effect != "" && c.shownPath() != "":
		return strings.Join([]string{string(c.Verdict), string(c.Code), c.subject, c.effect, string(c.Old), string(c.New)}, "\x00")
	case c.rule != "":
		return strings.Join([]string{c.Object, c.rule}, "\x00")
	}
	return ""
}

// newField reports whether a change adds an optional field to a CRD.
func (c *Change) newField() bool {
	return c.Op == Added && c.Verdict == Safe && strings.HasPrefix(c.subject, "CRD ") && strings.HasPrefix(c.effect, "added: ") && c.shownPath() != ""
}

// image returns the image that a change of the class images is about, or "".
func (c *Change) image() string {
	ref, _ := strings.CutPrefix(c.Object, "image ")
	if ref == c.Object {
		return ""
	}
	return ref
}

func (c *Change) shownPath() string { return strings.TrimPrefix(c.Path, "^") }

// labeled matches the path of a label or an annotation, and imaged that of a value which is often an image.
var (
	labeled = lazyregexp.New(`\.(label|annotation)s(?:\["([^"]*)"\]|\.([^.\[]+))$`)
	imaged  = lazyregexp.New(`\.(env|containers|initContainers)\[([^\]]*)\](?:\.value|\.image)?$`)
)

// part returns the noun and the name for a part of an object of which an object has many: an image, a label or
// an annotation.
func (c *Change) part(images map[string]bool) (noun, name string) {
	if c.subject == "" || c.Verdict != Safe {
		return "", ""
	}
	was, ok := scalar(c.Old)
	is, also := scalar(c.New)
	if !ok || !also {
		return "", ""
	}
	image := images[was] || images[is]
	if m := imaged().FindStringSubmatch(c.Path); m != nil && image {
		return "image", map[string]string{"env": "variable ", "containers": "container ", "initContainers": "container "}[m[1]] + m[2]
	}
	m := labeled().FindStringSubmatch(c.Path)
	switch {
	case m == nil:
		return "", ""
	case image:
		return "image", m[1] + " " + m[2] + m[3]
	}
	return m[1], m[2] + m[3]
}

// scalar returns a value that is a string, or the value of an environment variable, or "" for an absent value.
func scalar(v json.RawMessage) (text string, ok bool) {
	var variable struct{ Value string }
	switch {
	case v == nil:
		return "", true
	case v[0] == '{':
		return variable.Value, json.Unmarshal(v, &variable) == nil && variable.Value != ""
	}
	return text, json.Unmarshal(v, &text) == nil
}

// mostFields is the number of fields that a line names.
const mostFields = 12

// line returns the line for changes of the same group.
func line(list []*Change, images map[string]bool) Line {
	first := list[0]
	l := Line{Verdict: first.Verdict, Code: first.Code, Subject: first.subject, Changes: len(list)}
	if l.Subject == "" && strings.HasPrefix(first.Message, first.Object+": ") {
		l.Subject = first.Object
	}
	noun, _ := first.part(images)
	switch {
	case noun == "image" || noun != "" && len(list) > 1:
		l.Text = partsText(list, noun, images)
	case first.image() != "":
		l.Text = imagesText(list)
	case len(list) == 1 || first.rule != "": // the danger is first
		l.Text = strings.TrimPrefix(first.Message, l.Subject+": ")
	default:
		l.Text = fieldsText(list)
	}
	return l
}

// partsText states how images, labels or annotations of an object change.
func partsText(list []*Change, noun string, images map[string]bool) string {
	var names []string
	op := list[0].Op
	for _, c := range list {
		_, name := c.part(images)
		names = append(names, strings.TrimSpace(name))
		if c.Op != op {
			op = Changed
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	verb := map[Op]string{Added: "are added", Removed: "are removed", Changed: "change"}
	if len(names) == 1 {
		verb = map[Op]string{Added: "is added", Removed: "is removed", Changed: "changes"}
	}
	text := phrase.Count(len(names), noun) + " " + verb[op] + ": " + some(names)
	if noun == "image" {
		text = strings.Replace(text, ": ", ", see images: ", 1)
	}
	return text
}

// some returns the first elements of a list, and the number of the others.
func some(list []string) string {
	if len(list) <= mostFields {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:mostFields], ", ") + fmt.Sprintf(" and %d more", len(list)-mostFields)
}

// fieldsText states the same change at several fields.
func fieldsText(list []*Change) string {
	var paths []string
	for _, c := range list {
		paths = append(paths, c.shownPath())
	}
	common := paths[0]
	for _, p := range paths {
		for common != p && !strings.HasPrefix(p, common+".") && !strings.HasPrefix(p, common+"[") {
			common = common[:max(0, strings.LastIndexAny(common, ".["))]
		}
	}
	if slices.Contains(paths, common) { // a field above the others
		common = common[:strings.LastIndexAny(common, ".[")]
	}
	below := ""
	if common != "" {
		below = " below " + common
	}
	for i, p := range paths {
		paths[i] = strings.TrimPrefix(p, common)
	}
	if list[0].newField() {
		return fmt.Sprintf("%d fields are added%s: %s", len(paths), below, some(paths))
	}
	return fmt.Sprintf("%s; at %d fields%s: %s", list[0].effect, len(paths), below, some(paths))
}

// digest matches the part of a digest after the digits that identify it for readers.
var digest = lazyregexp.New(`(sha256:[0-9a-f]{12})[0-9a-f]+`)

// shortDigests returns a text with truncated digests.
func shortDigests(text string) string { return digest().ReplaceAllString(text, "$1…") }

// imagesText states how the images of a repository change.
func imagesText(list []*Change) string {
	var added, removed []string
	pinned := true
	tail := func(c *Change) string {
		ref := c.image()
		pinned = pinned && (c.Op != Added || strings.Contains(ref, "@"))
		for _, separator := range []string{"@", ":"} {
			if i := strings.LastIndex(ref, separator); i > strings.LastIndexByte(ref, '/') {
				return shortDigests(ref[i+1:])
			}
		}
		return "latest"
	}
	for _, c := range list {
		if c.Op == Added {
			added = append(added, tail(c))
		} else {
			removed = append(removed, tail(c))
		}
	}
	if len(added) == 0 || len(removed) == 0 {
		var out []string
		for _, c := range list {
			out = append(out, shortDigests(c.Message))
		}
		return strings.Join(out, "; ")
	}
	name := strings.TrimSuffix(list[0].image(), "@")
	name, _, _ = strings.Cut(name, "@")
	text := fmt.Sprintf("image %s changes from %s to %s", repository(name), some(removed), some(added))
	if !pinned {
		text += ", still without a digest"
	}
	return text
}
