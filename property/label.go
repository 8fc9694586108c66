package property

// A Label is the value of an olm.label property, which gives a bundle a label,
// or of an olm.label.required property, which requires a bundle with that
// label.
type Label struct {
	Label string `json:"label"`
}

var (
	shapeLabel         = shape{TypeLabel, []string{"label"}, 1}
	shapeLabelRequired = shape{TypeLabelRequired, []string{"label"}, 1}
)

func (s *shape) label(raw []byte) (Label, error) {
	f, err := s.decode(raw)
	if err != nil {
		return Label{}, err
	}
	return Label{string(f[0])}, nil
}
