package fbc

// A templateList collects the findings about templates in a load, and the facts about the
// load on which their advice depends (A18).
type templateList struct {
	faultList
	blobs  bool             // there is a blob that is not a template
	inFile int              // the number of documents of the current file
	file   []*TemplateError // the templates of the current file
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

// end completes the findings. It is called once, after the last file.
func (l *templateList) end() {
	for _, d := range l.list {
		d.Err.(*TemplateError).InCatalog = l.blobs
	}
}

// as gives the findings the code and severity Error, and returns the list.
func (l *templateList) as(code Code) *faultList {
	for _, d := range l.list {
		d.Code, d.Severity = code, Error
	}
	return &l.faultList
}
