package fbc

// A templateList collects the findings about templates of a load, and what their advice
// depends on (A18).
type templateList struct {
	faultList
	blobs  bool             // there is a blob that is not a template
	inFile int              // documents of the file at hand
	file   []*TemplateError // its templates
}

// take collects the templates of a result and returns its other findings.
func (l *templateList) take(r *result) Diagnostics {
	l.inFile += len(r.blobs)
	for _, b := range r.blobs {
		l.blobs = l.blobs || templateKind(b.Common().Schema) == ""
	}
	rest := r.findings[:0]
	for _, d := range r.findings {
		t, ok := d.Err.(*TemplateError)
		if !ok {
			rest = append(rest, d)
			continue
		}
		if len(l.list) < l.max {
			l.file = append(l.file, t)
		}
		l.add(d)
	}
	if r.last {
		for _, t := range l.file {
			t.Shared = l.inFile > 1
		}
		l.inFile, l.file = 0, nil
	}
	return rest
}

// end is called after all files were taken.
func (l *templateList) end() {
	for _, d := range l.list {
		d.Err.(*TemplateError).InCatalog = l.blobs
	}
}

// as returns the list as errors with a code.
func (l *templateList) as(code Code) *faultList {
	for _, d := range l.list {
		d.Code, d.Severity = code, Error
	}
	return &l.faultList
}
