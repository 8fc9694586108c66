package visible

import (
	"fmt"
	"io"
	"reflect"
	"slices"
)

// A Block is a trusted text that may contain several lines or colors.
type Block string

// Fprintf prints text. Each argument other than a [Block] is written as by
// [Line], so that external names, paths and messages cannot break lines.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	args = slices.Clone(args)
	for i, arg := range args {
		switch a := arg.(type) {
		case Block:
			args[i] = string(a)
		case fmt.Stringer:
			args[i] = Line(a.String())
		case error:
			args[i] = Line(a.Error())
		default:
			if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
				args[i] = Line(v.String())
			}
		}
	}
	return fmt.Fprintf(w, format, args...)
}
