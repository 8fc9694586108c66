package graph

import (
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"unsafe"
)

// walk calls f with each list of records, as numbers, and with the type of its records. If f
// returns numbers, they become the list. They begin at an address that is a multiple of 8.
func (r *records) walk(f func(list []uint32, form reflect.Type) []uint32) {
	visitList(f, &r.packages)
	visitList(f, &r.channels)
	visitList(f, &r.entries)
	visitList(f, &r.bundles)
	visitList(f, &r.order)
	visitList(f, &r.skips)
	visitList(f, &r.props)
	visitList(f, &r.apis)
	visitList(f, &r.bundleLabels)
	visitList(f, &r.required)
	visitList(f, &r.bundleEntries)
	visitList(f, &r.gvks)
	visitList(f, &r.providers)
	visitList(f, &r.labels)
	visitList(f, &r.labeled)
	visitList(f, &r.requirements)
	visitList(f, &r.ids)
	visitList(f, &r.ranges)
	visitList(f, &r.deprecations)
}

// numRecordLists is the number of lists that walk visits.
const numRecordLists = 19

func visitList[T any](f func([]uint32, reflect.Type) []uint32, at *[]T) {
	width := int(unsafe.Sizeof(*new(T))) / 4
	var words []uint32
	if len(*at) > 0 {
		words = unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(*at))), len(*at)*width)
	}
	if got := f(words, reflect.TypeFor[T]()); len(got) > 0 {
		*at = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(got))), len(got)/width)
	}
}

// pack appends the records of a package to out, and returns their size in memory. Most
// numbers grow regularly, and most strings begin like the ones before them:
//
//	lengths   of the lists, as variable-length integers
//	strings   their number and the size of the text, as variable-length integers
//	lists     as packNumbers writes them
//	text      the strings, as packString writes them
func (r *records) pack(out []byte) (packed []byte, memory uint64) {
	r.walk(func(list []uint32, form reflect.Type) []uint32 {
		out = binary.AppendUvarint(out, uint64(len(list))*4/uint64(form.Size()))
		memory += align(4 * uint64(len(list)))
		return nil
	})
	n, size := max(len(r.end), 1)-1, 0
	if n > 0 {
		size = int(r.end[n])
	}
	out = binary.AppendUvarint(out, uint64(n))
	out = binary.AppendUvarint(out, uint64(size))
	r.walk(func(list []uint32, form reflect.Type) []uint32 {
		out = packNumbers(out, list, int(form.Size())/4)
		return nil
	})
	last := ""
	for i := range n {
		s := r.str(sid(i + 1))
		out = packString(out, last, s)
		last = s
	}
	return out, memory + align(4*uint64(n+1)) + uint64(size)
}

// packNumbers appends records of width numbers each. Of each number, what counts is its
// difference to the one in its place in the record before. Column by column, the differences
// are variable-length integers: twice the difference as a zigzag number, or twice n plus 1 for the last
// difference n times more.
func packNumbers(out []byte, list []uint32, width int) []byte {
	for column := range width {
		var last, step uint32
		run := uint64(0)
		for i := column; i < len(list); i += width {
			d := list[i] - last
			last = list[i]
			if d == step {
				run++
				continue
			}
			if run > 0 {
				out = binary.AppendUvarint(out, run*2+1)
			}
			out = binary.AppendUvarint(out, 2*uint64(d<<1^uint32(int32(d)>>31)))
			step, run = d, 0
		}
		if run > 0 {
			out = binary.AppendUvarint(out, run*2+1)
		}
	}
	return out
}

// unpackNumbers fills list, which is zero, and returns the rest of b, or false if b is not
// what packNumbers writes.
func unpackNumbers(b []byte, list []uint32, width int) ([]byte, bool) {
	for column := range width {
		var last, step uint32
		for i := column; i < len(list); {
			x, n := binary.Uvarint(b)
			if n <= 0 {
				return nil, false
			}
			b = b[n:]
			if x%2 == 0 {
				if x /= 2; x > math.MaxUint32 {
					return nil, false
				}
				step = uint32(x)>>1 ^ -(uint32(x) & 1)
				last += step
				list[i] = last
				i += width
				continue
			}
			if x /= 2; x > uint64((len(list)-i+width-1)/width) {
				return nil, false
			}
			end := i + int(x)*width
			if last == 0 && step == 0 {
				i = end // it is zero already
			}
			for ; i < end; i += width {
				last += step
				list[i] = last
			}
		}
	}
	return b, true
}

// minHex is the length from which hexadecimal digits at the end of a string, as in the
// digests of images, are packed in half as many bytes.
const minHex = 16

// packString appends a string that follows another: the length of their common prefix, twice
// the length of what follows it plus 1 if there are packed digits, what follows it and, if
// there are any, the number of bytes that the digits are packed in, and these.
func packString(out []byte, last, s string) []byte {
	same := 0
	for same < min(len(last), len(s)) && last[same] == s[same] {
		same++
	}
	rest := s[same:]
	plain := len(rest)
	for plain > 0 && hexDigit(rest[plain-1]) < 16 {
		plain--
	}
	plain += (len(rest) - plain) % 2
	out = binary.AppendUvarint(out, uint64(same))
	if len(rest)-plain < minHex {
		out = binary.AppendUvarint(out, uint64(len(rest))*2)
		return append(out, rest...)
	}
	out = binary.AppendUvarint(out, uint64(plain)*2+1)
	out = append(out, rest[:plain]...)
	out = binary.AppendUvarint(out, uint64(len(rest)-plain)/2)
	for ; plain < len(rest); plain += 2 {
		out = append(out, hexDigit(rest[plain])<<4|hexDigit(rest[plain+1]))
	}
	return out
}

const hexDigits = "0123456789abcdef"

// hexDigit returns the value of a hexadecimal digit in lower case, and 16 for other bytes.
func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 16
}

// unpackStrings reads as many strings as end has places for, after the first, whose text has
// the given size. It returns the text and the rest of b, or false if b is not what packString
// writes.
func unpackStrings(b []byte, size int, end []uint32) (text string, rest []byte, ok bool) {
	ok = true
	number := func() int {
		if len(b) > 0 && b[0] < 0x80 {
			x := int(b[0])
			b = b[1:]
			return x
		}
		x, n := binary.Uvarint(b)
		if n <= 0 || x > math.MaxInt32 {
			ok = false
			return 0
		}
		b = b[n:]
		return int(x)
	}
	var all strings.Builder
	all.Grow(size)
	last := 0 // where the string before begins
	for i := 1; i < len(end); i++ {
		same, form := number(), number()
		at, plain := all.Len(), form/2
		if !ok || same > at-last || plain > len(b) || plain > size-at-same {
			return "", nil, false
		}
		all.WriteString(all.String()[last : last+same])
		all.Write(b[:plain])
		b = b[plain:]
		if form%2 == 1 {
			n := number()
			if !ok || n > len(b) || n > (size-all.Len())/2 {
				return "", nil, false
			}
			for _, x := range b[:n] {
				all.WriteByte(hexDigits[x>>4])
				all.WriteByte(hexDigits[x&15])
			}
			b = b[n:]
		}
		last, end[i] = at, uint32(all.Len())
	}
	return all.String(), b, all.Len() == size
}

// unpack reads what pack writes and returns the text of the records, or false if b is
// something else. It allocates memory bytes.
func (r *records) unpack(b []byte, memory uint64) (text string, ok bool) {
	ok = true
	number := func() uint64 {
		x, n := binary.Uvarint(b)
		if n <= 0 || x > math.MaxInt32 {
			ok = false
			return 0
		}
		b = b[n:]
		return x
	}
	var lengths [numRecordLists]uint64 // in numbers
	var records uint64
	i := 0
	r.walk(func(_ []uint32, form reflect.Type) []uint32 {
		lengths[i] = number() * uint64(form.Size()) / 4
		records += align(4 * lengths[i])
		i++
		return nil
	})
	n, size := number(), number()
	if !ok || 2*n > uint64(len(b)) || records+align(4*(n+1))+size != memory {
		return "", false
	}
	words := make([]uint64, (memory-size)/8)
	all := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(words))), 2*len(words))
	i = 0
	r.walk(func(_ []uint32, form reflect.Type) []uint32 {
		list := all[:lengths[i]:lengths[i]]
		all = all[align(4*lengths[i])/4:]
		i++
		if ok {
			b, ok = unpackNumbers(b, list, int(form.Size())/4)
		}
		return list
	})
	r.end = all[: n+1 : n+1]
	if ok {
		text, b, ok = unpackStrings(b, int(size), r.end)
	}
	if !ok || len(b) > 0 {
		return "", false
	}
	r.table = newTable(text, r.end)
	return text, true
}
