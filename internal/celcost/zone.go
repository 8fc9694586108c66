package celcost

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Results must not depend on the machine's time zone or its time zone files,
// which an expression could otherwise cause to be opened (S3).

// checkZone returns an error for a time zone that would require a file.
func checkZone(zone ref.Val) ref.Val {
	s, ok := zone.(types.String)
	if !ok || s == "" || s == "UTC" || strings.Contains(string(s), ":") {
		return nil
	}
	return types.WrapErr(fmt.Errorf(`time zone %s is not supported: use "UTC" or an offset such as "+05:30"`, clip(string(s))))
}

// anywhere replaces the machine's time zone in a timestamp with a fixed offset.
// The parser of timestamps chooses the machine's zone if that has the offset in
// the text.
func anywhere(v ref.Val) ref.Val {
	if t, ok := v.(types.Timestamp); ok && t.Location() == time.Local {
		_, offset := t.Zone()
		return types.Timestamp{Time: t.In(time.FixedZone("", offset))}
	}
	return v
}
