package fbc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/olmkit/olmkit/fbc/internal/decode"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/jsonkind"
	"github.com/olmkit/olmkit/internal/jsonscan"
	"github.com/olmkit/olmkit/property"
)

// array calls each for the elements of a list, which may be absent or null.
func (d *decoder) array(path string, raw []byte, each func(i int, v []byte)) {
	if raw == nil || raw[0] == 'n' {
		return
	}
	if raw[0] != '[' {
		d.fault(codes.Type, path, fmt.Errorf("must be a list, found %s", jsonkind.Name(jsontext.Value(raw).Kind())))
		return
	}
	i := 0
	for v := range jsonscan.Elements(raw) {
		each(i, v)
		i++
	}
}

// object calls each for the members of an object. It reports another type and names
// that repeat.
func (d *decoder) object(path string, raw []byte, each func(key string, v []byte)) bool {
	if raw[0] != '{' {
		d.fault(codes.Type, path, fmt.Errorf("must be an object, found %s", jsonkind.Name(jsontext.Value(raw).Kind())))
		return false
	}
	type field struct {
		key string
		v   []byte
	}
	var stack [8]field
	members := stack[:0]
	var seen map[string]bool // the names, if there are more than a few
	for key, v := range jsonscan.Members(raw) {
		name := d.intern(key)
		if len(members) == len(stack) {
			seen = make(map[string]bool)
			for _, m := range members {
				seen[m.key] = true
			}
		}
		if seen[name] || seen == nil && slices.ContainsFunc(members, func(m field) bool { return m.key == name }) {
			d.fault(codes.RepeatedKey, path+"/"+name, decode.ErrRepeated)
		}
		if seen != nil {
			seen[name] = true
		}
		members = append(members, field{name, v})
	}
	for _, m := range members {
		each(m.key, m.v)
	}
	return true
}

// properties decodes a list of {type, value}. Values that are not kept are nil.
func (d *decoder) properties(raw []byte) []property.Property {
	if raw == nil {
		return nil
	}
	var out []property.Property
	d.array("/properties", raw, func(i int, v []byte) {
		var typ, value []byte
		path := func() string { return "/properties/" + strconv.Itoa(i) }
		if v[0] == 'n' {
			d.fault(codes.Property, path(), errors.New("is null; a property must be an object with type and value"))
			out = append(out, property.Property{Value: jsonNull})
			return
		}
		if !d.object(path(), v, func(key string, v []byte) {
			switch key {
			case "type":
				typ = v
			case "value":
				value = v
			}
		}) {
			return
		}
		p := property.Property{Type: d.optional(path()+"/type", typ)}
		heavy := !d.keepAll && property.IsHeavy(p.Type)
		switch {
		case typ != nil && typ[0] != '"':
		case p.Type == "":
			d.fault(codes.Property, path()+"/type", errors.New("is missing or empty; a property needs a type"))
			p.Value = d.internValue(value)
		case value == nil:
			d.fault(codes.Property, path()+"/value", errors.New("is missing; a property needs a value"))
			p.Value = jsonNull
		case heavy && !(d.check && value[0] == 'n'):
			p.Value = d.heavyValue(p.Type, value)
		case value[0] == 'n':
			d.fault(codes.Property, path()+"/value", errors.New("is null; a property needs a value"))
			p.Value = jsonNull
		case int64(len(value)) > d.limits.PropertySize && !property.IsHeavy(p.Type):
			d.fault(codes.Limit, path()+"/value", &LimitError{Limit: "PropertySize", What: "property value", Size: int64(len(value)), Max: d.limits.PropertySize})
		case d.keepAll:
			p.Value = value // a part of Raw
		default:
			p.Value = d.internValue(value)
		}
		out = append(out, p)
	})
	return out
}

// regular returns the properties at the spans. It returns false, and reports nothing, if
// there is something to report.
func (d *decoder) regular(spans []decode.PropertySpan) ([]property.Property, bool) {
	if len(spans) == 0 {
		return nil, true
	}
	out := d.newProperties(len(spans))
	for i, s := range spans {
		p := &out[i]
		p.Type = d.intern(s.Type)
		heavy := property.IsHeavy(p.Type)
		switch {
		case s.Value[0] == 'n' && (d.keepAll || d.check || !heavy):
			return nil, false
		case d.keepAll && (heavy || int64(len(s.Value)) <= d.limits.PropertySize):
			p.Value = s.Value // a part of Raw
		case heavy:
			p.Value = d.heavyValue(p.Type, s.Value)
		case int64(len(s.Value)) > d.limits.PropertySize:
			return nil, false
		default:
			p.Value = d.internValue(s.Value)
		}
	}
	return out, true
}

// heavyValue returns the value of a heavy property for Visit, or nil if it is not requested.
// With check, it returns a copy of a value that validation will report.
func (d *decoder) heavyValue(typ string, v []byte) json.RawMessage {
	switch {
	case d.check && checkHeavy(typ, v) != nil:
		return bytes.Clone(v)
	case !d.heavy || v[0] == 'n':
		return nil
	}
	return v
}

var jsonNull = json.RawMessage("null")

// internValue returns a copy of a small JSON value, which equal properties share and which
// must not be modified. If the blob is not kept, it returns the value in the text.
func (d *decoder) internValue(v []byte) json.RawMessage {
	if d.reuse != nil {
		return json.RawMessage(v)
	}
	if shared, ok := d.values[string(v)]; ok {
		return shared
	}
	own := json.RawMessage(bytes.Clone(v))
	d.values[string(own)] = own
	return own
}

// entries decodes the entries of a channel (A6).
func (d *decoder) entries(raw []byte) []Entry {
	var own []Entry
	list := &own
	if d.reuse != nil {
		list = &d.reuse.entries
	}
	from := len(*list)
	d.array("/entries", raw, func(i int, v []byte) {
		if e, ok := d.plainEntry(v); ok {
			*list = append(*list, e)
			return
		}
		if e, ok := d.entry("/entries/"+strconv.Itoa(i), v); ok {
			*list = append(*list, e)
		}
	})
	return slices.Clip((*list)[from:])
}

// entry decodes an entry of any form. ok is false if there is none.
func (d *decoder) entry(path string, v []byte) (e Entry, ok bool) {
	var name []byte
	ok = d.object(path, v, func(key string, v []byte) {
		switch key {
		case "name":
			name, e.Name = v, d.optional(path+"/name", v)
		case "replaces":
			if v[0] != 'n' {
				e.Replaces = d.optional(path+"/replaces", v)
			}
		case "skipRange":
			if v[0] != 'n' {
				e.SkipRange = d.optional(path+"/skipRange", v)
			}
		case "skips":
			d.array(path+"/skips", v, func(j int, v []byte) {
				e.Skips = append(e.Skips, d.optional(path+"/skips/"+strconv.Itoa(j), v))
			})
		}
	})
	if ok {
		d.named(path+"/name", name, e.Name)
	}
	return e, ok
}

// plainEntry decodes an entry with valid, known members that do not repeat. ok is false
// for other entries.
func (d *decoder) plainEntry(v []byte) (e Entry, ok bool) {
	if v[0] != '{' {
		return e, false
	}
	var seen [4]bool
	for key, value := range jsonscan.Members(v) {
		var field int
		switch string(key) {
		case `"name"`:
			field = 0
		case `"replaces"`:
			field = 1
		case `"skipRange"`:
			field = 2
		case `"skips"`:
			field = 3
		default:
			return e, false
		}
		if seen[field] {
			return e, false
		}
		seen[field] = true
		if field == 3 {
			if value[0] != '[' {
				return e, false
			}
			for s := range jsonscan.Elements(value) {
				if s[0] != '"' {
					return e, false
				}
				e.Skips = append(e.Skips, d.intern(s))
			}
		} else if value[0] != '"' {
			return e, false
		} else {
			*[3]*string{&e.Name, &e.Replaces, &e.SkipRange}[field] = d.intern(value)
		}
	}
	return e, e.Name != ""
}

// deprecations decodes the entries of an olm.deprecations blob (A9).
func (d *decoder) deprecations(raw []byte) []Deprecation {
	var out []Deprecation
	d.array("/entries", raw, func(i int, v []byte) {
		path := "/entries/" + strconv.Itoa(i)
		var e Deprecation
		if d.object(path, v, func(key string, v []byte) {
			switch key {
			case "message":
				e.Message = d.optional(path+"/message", v)
			case "reference":
				d.object(path+"/reference", v, func(key string, v []byte) {
					switch key {
					case "schema":
						e.Schema = d.optional(path+"/reference/schema", v)
					case "name":
						e.Name = d.optional(path+"/reference/name", v)
					}
				})
			}
		}) {
			out = append(out, e)
		}
	})
	return out
}

// relatedImages checks the images, and keeps them if everything is kept or checked.
func (d *decoder) relatedImages(raw []byte) []RelatedImage {
	if !d.keepAll && !d.check && stringsOnly(raw) {
		return nil
	}
	return d.images(raw)
}

// images checks images of any form.
func (d *decoder) images(raw []byte) []RelatedImage {
	var out []RelatedImage
	d.array("/relatedImages", raw, func(i int, v []byte) {
		path := "/relatedImages/" + strconv.Itoa(i)
		var r RelatedImage
		if d.object(path, v, func(key string, v []byte) {
			switch key {
			case "name":
				r.Name = d.optional(path+"/name", v)
			case "image":
				r.Image = d.optional(path+"/image", v)
			}
		}) && (d.keepAll || d.check) {
			out = append(out, r)
		}
	})
	return out
}

// stringsOnly reports whether raw is a list of objects with at most two members each,
// which have different names without escapes, and strings as values.
func stringsOnly(raw []byte) bool {
	if raw == nil || raw[0] != '[' {
		return false
	}
	for v := range jsonscan.Elements(raw) {
		if v[0] != '{' {
			return false
		}
		var first []byte
		n := 0
		for key, value := range jsonscan.Members(v) {
			if n == 2 || n == 1 && bytes.Equal(key, first) || value[0] != '"' || bytes.IndexByte(key, '\\') >= 0 {
				return false
			}
			first = key
			n++
		}
	}
	return true
}

// icon checks an icon; its bytes stay in the source.
func (d *decoder) icon(raw []byte) {
	if raw == nil || raw[0] == 'n' {
		return
	}
	var data, media string
	if !d.object("/icon", raw, func(key string, v []byte) {
		switch key {
		case "mediatype":
			media = d.optional("/icon/mediatype", v)
		case "base64data":
			if v[0] != '"' {
				d.optional("/icon/base64data", v)
				return
			}
			plain, _ := jsontext.AppendUnquote(nil, v)
			data = string(plain)
		}
	}) {
		return
	}
	switch {
	case data == "":
		d.fault(codes.Icon, "/icon/base64data", errors.New("is missing or empty; the icon cannot be shown"))
	case media == "":
		d.fault(codes.Icon, "/icon/mediatype", errors.New("is missing or empty; set the type of the data, such as image/svg+xml"))
	}
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		d.fault(codes.Type, "/icon/base64data", fmt.Errorf("must be base64 text: %w", err))
	}
}
