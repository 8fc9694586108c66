package fact

// A Code identifies a kind of fact, or a kind of step without a fact ("unmet-part",
// "crowded", "supposed", "preferred" and "contradiction"). Codes are stable. [Explanations]
// documents them.
type Code string
