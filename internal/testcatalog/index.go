package testcatalog

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// The sizes of the parts of a compiled index; package graph defines the format.
const (
	indexHeader  = 32
	indexSection = 24
	indexPackage = 32 // a record of the first section
	indexSum     = 4  // the place of the checksum in the record
	indexEnd     = 8  // the place of the end of the package
)

// packages calls f with the record of each package of a compiled index, and with its text.
func packages(index []byte, list [][2]uint64, f func(record, text []byte)) {
	if len(list) == 0 || list[0][0] > uint64(len(index)) || list[0][1] > uint64(len(index))-list[0][0] {
		return
	}
	last := list[len(list)-1]
	if last[0] > uint64(len(index)) || last[1] > uint64(len(index))-last[0] {
		return
	}
	first, from := (last[0]+last[1]+7)&^7, uint64(0)
	for records := index[list[0][0]:][:list[0][1]]; len(records) >= indexPackage; records = records[indexPackage:] {
		to := binary.NativeEndian.Uint64(records[indexEnd:])
		if first > uint64(len(index)) || from > to || to > uint64(len(index))-first {
			return
		}
		f(records[:indexPackage], index[first+from:first+to])
		from = to
	}
}

// sections returns the offsets and lengths of the sections of a compiled index,
// or nil if the index is too short.
func sections(index []byte) [][2]uint64 {
	if len(index) < indexHeader {
		return nil
	}
	n := int(binary.LittleEndian.Uint32(index[12:]))
	if n > 100 || indexHeader+n*indexSection > len(index) {
		return nil
	}
	out := make([][2]uint64, n)
	for i := range out {
		at := index[indexHeader+i*indexSection:]
		out[i] = [2]uint64{binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])}
	}
	return out
}

// Seal corrects the magic, the size and the checksums of a modified index, as
// an attacker would.
func Seal(index []byte) {
	table := crc32.MakeTable(crc32.Castagnoli)
	list := sections(index)
	if list == nil {
		return
	}
	copy(index, "olmkitix")
	packages(index, list, func(record, text []byte) {
		binary.NativeEndian.PutUint32(record[indexSum:], crc32.Checksum(text, table))
	})
	for i, s := range list {
		if offset, length := s[0], s[1]; offset <= uint64(len(index)) && length <= uint64(len(index))-offset {
			binary.LittleEndian.PutUint32(index[indexHeader+i*indexSection+16:], crc32.Checksum(index[offset:offset+length], table))
		}
	}
	binary.LittleEndian.PutUint64(index[24:], uint64(len(index)))
	binary.LittleEndian.PutUint32(index[20:], crc32.Checksum(index[24:indexHeader+len(list)*indexSection], table))
}

// Tamper returns a copy of an index with modified records and matching
// checksums. Each change takes five bytes: the section or package, the offset (two bytes),
// the operation and the operand. In packages, which are packed, it changes a byte.
func Tamper(index, changes []byte) []byte {
	out := bytes.Clone(index)
	list := sections(index)
	var texts [][]byte
	packages(out, list, func(_, text []byte) { texts = append(texts, text) })
	for ; len(list) > 0 && len(changes) >= 5; changes = changes[5:] {
		if n := int(changes[0]); n >= 128 {
			if part := texts[(n-128)%len(texts)]; changes[3]%2 == 0 {
				part[int(binary.LittleEndian.Uint16(changes[1:]))%len(part)] = changes[4]
			} else {
				part[int(binary.LittleEndian.Uint16(changes[1:]))%len(part)] ^= changes[4]
			}
			continue
		}
		s := list[int(changes[0])%len(list)]
		part := out[s[0] : s[0]+s[1]]
		if len(part) < 4 {
			continue
		}
		at, by := int(binary.LittleEndian.Uint16(changes[1:])), changes[4]
		number := part[at%(len(part)/4)*4:]
		switch old := binary.LittleEndian.Uint32(number); changes[3] % 4 {
		case 0:
			part[at%len(part)] = by
		case 1:
			binary.LittleEndian.PutUint32(number, uint32(by))
		case 2:
			binary.LittleEndian.PutUint32(number, old+uint32(int8(by)))
		case 3:
			binary.LittleEndian.PutUint32(number, -uint32(by))
		}
	}
	Seal(out)
	return out
}

// Mixed is a small catalog whose index contains records of every kind.
const Mixed = `
schema: olm.package
name: db
defaultChannel: stable
---
schema: olm.channel
package: db
name: alpha
entries:
- {name: db.v3, replaces: db.v1, skipRange: ">=1.0.0 <3.0.0"}
- {name: db.v1}
---
schema: olm.channel
package: db
name: broken
entries:
- {name: db.v1, replaces: db.v2}
- {name: db.v2, replaces: db.v1}
---
schema: olm.channel
package: db
name: stable
entries:
- {name: db.v3, replaces: db.v2, skips: [db.v1, db.v0]}
- {name: db.v2, replaces: db.v1, skipRange: "<2.0.0"}
- {name: db.v1, replaces: db.v0}
- {name: db.v0}
---
schema: olm.bundle
package: db
name: db.v1
image: registry.example.com/db:v1
properties:
- {type: olm.package, value: {packageName: db, version: 1.0.0}}
- {type: olm.gvk, value: {group: db.example.com, version: v1, kind: Table}}
- {type: olm.label, value: {label: gold}}
---
schema: olm.bundle
package: db
name: db.v2
image: registry.example.com/db:v2
properties:
- {type: olm.package, value: {packageName: db, version: 2.0.0-rc.1+b2}}
- {type: olm.gvk, value: {group: db.example.com, version: v1, kind: Table}}
- {type: olm.gvk.required, value: {group: disk.example.com, version: v1, kind: Disk}}
- {type: olm.constraint, value: {failureMessage: no, any: {constraints: [{package: {packageName: disk, versionRange: ">=1.0.0"}}]}}}
- {type: olm.csv.metadata, value: {installModes: [{type: OwnNamespace, supported: true}, {type: AllNamespaces, supported: true}]}}
---
schema: olm.bundle
package: db
name: db.v3
image: registry.example.com/db:v3
properties:
- {type: olm.package, value: {packageName: db, version: 3.0.0}}
- {type: olm.gvk, value: {group: db.example.com, version: v1, kind: Table}}
- {type: olm.gvk, value: {group: db.example.com, version: v2, kind: Table}}
- {type: olm.package.required, value: {packageName: disk, versionRange: ">=1.0.0"}}
- {type: olm.constraint, value: {failureMessage: new, cel: {rule: "properties.exists(p, p.type == 'olm.label')"}}}
---
schema: olm.package
name: disk
defaultChannel: stable
---
schema: olm.channel
package: disk
name: stable
entries:
- {name: disk.v1}
---
schema: olm.bundle
package: disk
name: disk.v1
properties:
- {type: olm.package, value: {packageName: disk, version: 1.0.0}}
- {type: olm.gvk, value: {group: disk.example.com, version: v1, kind: Disk}}
- {type: olm.label, value: {label: gold}}
- {type: olm.deprecated, value: {}}
---
schema: olm.deprecations
package: db
entries:
- {reference: {schema: olm.bundle, name: db.v1}, message: use db.v3}
- {reference: {schema: olm.channel, name: alpha}, message: use stable}
`
