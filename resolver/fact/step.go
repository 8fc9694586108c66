package fact

// A Step is one sentence of a derivation and the steps that support it.
type Step struct {
	Code Code `json:"code"`
	// Bundles are the subject of the step. Bundles that behave alike share a step.
	Bundles []Ref  `json:"bundles,omitempty"`
	Text    string `json:"text"`
	// Places are the positions in the catalogs where the fact is stated, one for each of
	// Bundles.
	Places []Place `json:"places,omitempty"`
	// Messages are the authors' messages: failureMessages and deprecations.
	Messages []string `json:"messages,omitempty"`
	Because  []*Step  `json:"because,omitempty"`
	// Fact is the fact that the step applies. For a merged step, it is the first of
	// several.
	Fact Fact `json:"-"`
	// Folded, if not nil, is the step in the form shown to people: its Text includes one
	// of the reasons, and its Places, Messages and Because are the remaining ones.
	Folded *Step `json:"-"`
	// Likeness is equal for steps of one resolution that state the same thing for the same
	// reasons.
	Likeness int `json:"-"`
}

// Shown returns Folded, or the step itself if Folded is nil.
func (s *Step) Shown() *Step {
	if s.Folded != nil {
		return s.Folded
	}
	return s
}
