package visible

import (
	"fmt"
	"io"
	"reflect"
	"slices"
)

// A Block is a text of several lines, or with colours, that we made.
type Block string

// Fprintf prints text. What an argument has stays on one line, as [Line] writes it,
// except for a [Block]: names, paths and messages from outside cannot make lines.
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
