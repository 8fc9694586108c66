package reconcile

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// A Blocker is an installed operator that blocks the next minor version of the platform.
type Blocker struct {
	CSV olm.Key
	// Max is the newest version that the operator supports; zero if Err is
	// set.
	Max property.MinorVersion
	Err error
}

// String describes the blocker in a sentence, with what to do.
func (b Blocker) String() string { return fmt.Sprintf("%s: %s", b.CSV, b.why()) }

func (b Blocker) why() string {
	if b.Err != nil {
		return fmt.Sprintf("its maximum platform version cannot be read: %s; fix the property or remove the operator first", b.Err)
	}
	return fmt.Sprintf("it supports the platform up to %s; upgrade or remove the operator first", b.Max)
}

// MarshalJSON returns the CSV, the newest version if there is one, and the sentence.
func (b Blocker) MarshalJSON() ([]byte, error) {
	return json.Marshal(blockerJSON{b.CSV, b.maxText(), b.why()})
}

// A blockerJSON is the form of a blocker in JSON.
type blockerJSON struct {
	CSV olm.Key `json:"csv"`
	// Max is the newest supported minor version of the platform.
	Max     string `json:"max,omitempty"`
	Message string `json:"message"`
}

// JSONSchemaAlias returns a value of the type that a blocker marshals as. It is exported
// for the generator of the JSON Schemas, which is in another module.
func (Blocker) JSONSchemaAlias() any { return blockerJSON{} }

func (b Blocker) maxText() string {
	if b.Err != nil {
		return ""
	}
	return b.Max.String()
}

// UpgradeBlockers returns the CSVs that block the upgrade of a platform from the given version
// to the next minor version, in the given order. A CSV blocks it if its property
// olm.maxOpenShiftVersion is lower than the next version, or cannot be read: an unreadable
// limit must never count as no limit. CSVs without the property and copies do not block it.
// Neither does an OperatorCondition, which holds up only the upgrade of the operator itself.
// UpgradeBlockers returns an error if the version is invalid.
func UpgradeBlockers(csvs []*olm.ClusterServiceVersion, version string) ([]Blocker, error) { // C7
	current, err := property.ParseMinorVersion(version)
	if err != nil {
		return nil, err
	}
	next := current.Next()
	var out []Blocker
	for _, c := range csvs {
		if olm.IsCopied(c) {
			continue
		}
		list, err := world.Properties(c)
		if err != nil {
			out = append(out, Blocker{CSV: c.Key(), Err: err})
			continue
		}
		limit, ok, err := property.LowestMaxOpenShift(slices.Values(list))
		if err != nil || ok && limit.Compare(next) < 0 {
			out = append(out, Blocker{CSV: c.Key(), Max: limit, Err: err})
		}
	}
	return out, nil
}
