package celcost

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Answers must not depend on the machine: not on its time zone, and not on the
// files that it has about others, which an expression would name to be opened (S3).

// checkZone returns an error for a time zone that would have to be looked up.
func checkZone(zone ref.Val) ref.Val {
	s, ok := zone.(types.String)
	if !ok || s == "" || s == "UTC" || strings.Contains(string(s), ":") {
		return nil
	}
	return types.WrapErr(fmt.Errorf(`time zone %s is not supported: use "UTC" or an offset such as "+05:30"`, clip(string(s))))
}

// anywhere returns a value without the time zone of the machine, which the parser
// of timestamps uses where the offset is the same.
func anywhere(v ref.Val) ref.Val {
	if t, ok := v.(types.Timestamp); ok && t.Location() == time.Local {
		_, offset := t.Zone()
		return types.Timestamp{Time: t.In(time.FixedZone("", offset))}
	}
	return v
}
