package fbc

// A templateList collects the findings about templates in a load, and the facts about the
// load on which their advice depends (A18).
type templateList struct {
	faultList
	blobs  bool          // there is a blob that is not a template
	name   string        // of the current file
	inFile int           // the number of its documents so far
	open   []*Diagnostic // the templates of the current file and of those after it
}

// take collects the templates of a result and returns its other findings.
func (l *templateList) take(r *result) Diagnostics {
	rest := r.findings[:0]
	for _, d := range r.findings {
		if _, ok := d.Err.(*TemplateError); !ok {
			rest = append(rest, d)
			continue
		}
		if len(l.list) < l.max {
			l.open = append(l.open, d)
		}
		l.add(d)
	}
	for _, b := range r.blobs {
		m := b.Common()
		l.blobs = l.blobs || templateKind(m.Schema) == ""
		if m.Pos.File != l.name {
			l.endFile()
			l.name, l.inFile = m.Pos.File, 0
		}
		l.inFile++
	}
	return rest
}

// endFile completes the findings in the current file.
func (l *templateList) endFile() {
	for len(l.open) > 0 && l.open[0].Pos.File == l.name {
		l.open[0].Err.(*TemplateError).Shared = l.inFile > 1
		l.open = l.open[1:]
	}
}

// end completes the findings. It is called once, after the last file.
func (l *templateList) end() {
	l.endFile()
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
