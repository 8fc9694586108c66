package olmv1

import (
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
)

// A Course is what OLM v1 does on its own after a change of a request or of a catalog, as long as nothing else
// changes. It was found by selecting again, step by step.
type Course struct {
	// Catalog and Selected are what OLM v1 then selects.
	Catalog  string     `json:"catalog"`
	Selected graph.Node `json:"selected"`
	// Later are the bundles to which OLM v1 then upgrades the selected one on its own, in order.
	Later []graph.Node `json:"later,omitempty"`
	// Refusal is why OLM v1 reports an error after the last of them, or "". Refused is the bundle that it then selects
	// and refuses, if there is one. Reason is why, if it follows from the manifests; see [Fix.Stopped].
	Refusal RefusalCode `json:"refusal,omitzero"`
	Refused graph.Node  `json:"refused,omitzero"`
	Reason  string      `json:"reason,omitempty"`
	// Prerelease reports whether the course ends at a prerelease, although the installed bundle, or else the head of the
	// default channel, is not one.
	Prerelease bool `json:"prerelease,omitzero"`
	// Channel is a channel of the end if none of the requested channels has it, or "".
	Channel string `json:"channel,omitempty"`

	stays bool // the installed bundle is selected
}

// End returns the last bundle that OLM v1 installs.
func (c *Course) End() graph.Node {
	if n := len(c.Later); n > 0 {
		return c.Later[n-1]
	}
	return c.Selected
}

// text states the course: what OLM v1 then does with the selected bundle, such as "installed", and where that ends.
func (c *Course) text(verb string) string {
	if c.stays {
		return c.Selected.Name + " stays, without an error"
	}
	if c.Reason != "" && c.Refused == c.Selected {
		return "OLM v1 selects " + c.Selected.Name + " from catalog " + c.Catalog + ", but refuses it: " + c.Reason
	}
	end := c.End().Name
	if c.Prerelease {
		end = "the prerelease " + end
	}
	if c.Channel != "" {
		end += " of channel " + c.Channel
	}
	n, text := len(c.Later), ""
	if n == 0 {
		text = end + " is " + verb + " from catalog " + c.Catalog
	} else {
		text = c.Selected.Name + " is " + verb + " from catalog " + c.Catalog + ", and OLM v1 upgrades it to " + end + " on its own, in " + phrase.Count(n, "more step")
	}
	return text
}

// ending returns a sentence about the error at the end of the course, after a full stop, or "".
func (c *Course) ending() string {
	switch {
	case c.Refused.Name == "" && c.Refusal == "", c.Reason != "" && c.Refused == c.Selected:
		return ""
	case c.Reason != "":
		return ". After that, OLM v1 selects " + c.Refused.Name + " and refuses it: " + c.Reason
	case c.Refused.Name == "":
		return ". After that, OLM v1 selects nothing, because catalogs of equal priority have a successor"
	case c.Refusal == RefusedVersion:
		return ". After that, OLM v1 selects " + c.Refused.Name + " and refuses it, because it has no valid version"
	}
	return ". After that, OLM v1 selects " + c.Refused.Name + " and refuses it, because it declares dependencies"
}
