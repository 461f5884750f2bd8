package tomlfile

import (
	"github.com/pelletier/go-toml/v2/unstable"
)

// A node is one value of a TOML document, with the line it stands on.
type node struct {
	kind  kind
	line  int
	text  string           // of a string: its value; of others: as written, for messages
	items []*node          // of an array, in order
	keys  []string         // of a table, in order
	table map[string]*node // of a table: values by key; nil while it has none

	// header is true for a table that has its own [header], or was an element
	// of [[header]]: it cannot be given another.
	header bool
	// closed is true for { inline } tables and [ inline ] arrays, to which
	// nothing can be added from outside.
	closed bool
}

// maxItems bounds a list in brackets: a value that takes two bytes in the file takes a
// hundred here.
const maxItems = 10_000

// maxParts bounds a dotted key: each part takes two bytes in the file, and is a table here.
const maxParts = 100

type kind string

// Kinds are named as messages name them.
const (
	text   kind = "text"
	number kind = "a number"
	truth  kind = "true or false"
	moment kind = "a date or time"
	array  kind = "a list"
	table  kind = "a table"
	tables kind = "a list of tables" // made by [[header]]

	// broken stands for a value whose mistake is reported already, so that
	// its key does not count as missing too.
	broken kind = ""
)

func newTable(line int) *node {
	return &node{kind: table, line: line}
}

// set adds a value under a key that is not there yet.
func (n *node) set(key string, value *node) {
	if n.table == nil {
		n.table = make(map[string]*node)
	}
	n.keys = append(n.keys, key)
	n.table[key] = value
}

// A key is one part of a dotted key.
type key struct {
	name string
	line int
}

// keysOf returns the parts of the key of a table header or a key-value.
func (r *reader) keysOf(n *unstable.Node) []key {
	var keys []key
	for it := n.Key(); it.Next(); {
		k := it.Node()
		if len(keys) == maxParts {
			r.report.Mistake(keys[0].line, "remove it; no key has more than two parts", "a key has more than %d parts", maxParts)
			break
		}
		keys = append(keys, key{string(k.Data), r.line(k.Raw)})
	}
	return keys
}

// value copies a value out of the parser, whose nodes live only until it reads
// on. line is that of the key, since not every node knows its own.
func (r *reader) value(n *unstable.Node, line int) *node {
	v := &node{line: line, text: string(n.Data)}
	switch n.Kind {
	case unstable.String:
		v.kind = text
	case unstable.Integer, unstable.Float:
		v.kind = number
	case unstable.Bool:
		v.kind = truth
	case unstable.Array:
		v.kind, v.closed = array, true
		for it := n.Children(); it.Next(); {
			item := it.Node()
			if item.Raw.Length > 0 {
				line = r.line(item.Raw)
			}
			if len(v.items) == maxItems {
				r.report.Mistake(line, "write jobs as [[job]], and keep a long list of arguments in a file that the command reads",
					"the list has more than %d values", maxItems)
				break
			}
			v.items = append(v.items, r.value(item, line))
		}
	case unstable.InlineTable:
		v = newTable(line)
		for it := n.Children(); it.Next(); {
			r.keyValue(v, it.Node())
		}
		v.closed = true
	default:
		v.kind = moment
	}
	return v
}

// keyValue puts a key-value into a table. A dotted key makes the tables on its
// way.
func (r *reader) keyValue(into *node, n *unstable.Node) {
	keys := r.keysOf(n)
	last := keys[len(keys)-1]
	for _, k := range keys[:len(keys)-1] {
		next, there := into.table[k.name]
		if !there {
			next = newTable(k.line)
			into.set(k.name, next)
		}
		if next.kind == broken {
			return
		}
		if next.kind != table || next.closed {
			r.report.Mistake(k.line, "choose another key, or remove one of the two",
				"%q is already %s in line %d, to which nothing can be added", k.name, next.kind, next.line)
			return
		}
		into = next
	}
	value := r.value(n.Value(), last.line)
	if before, there := into.table[last.name]; there {
		r.report.Mistake(last.line, "remove one of the two", "%q is already set in line %d", last.name, before.line)
		return
	}
	into.set(last.name, value)
}

// openTable finds or makes the table of a [header]. It returns a table in any
// case, so that what stands below the header is read too; after a mistake it is
// one that belongs to nothing.
func (r *reader) openTable(keys []key) *node {
	into, last := r.parent(keys), keys[len(keys)-1]
	made := newTable(last.line)
	made.header = true
	if into == nil {
		return made
	}
	before, there := into.table[last.name]
	switch {
	case !there:
		into.set(last.name, made)
		return made
	case before.kind == table && !before.header && !before.closed:
		before.header = true
		return before
	case before.kind == broken:
	case before.kind == tables:
		r.report.Mistake(last.line, "write [["+last.name+"]] for one more",
			"[%s] has one bracket, but it is %s since line %d", last.name, before.kind, before.line)
	case last.name == "job" && before.kind == table:
		r.report.Mistake(last.line, "write [[job]] for every job", "[job] has one bracket, so there can be only one")
	default:
		r.report.Mistake(last.line, "put all keys below one of the two", "%q is already defined in line %d", last.name, before.line)
	}
	return made
}

// openItem makes the next table of a [[header]].
func (r *reader) openItem(keys []key) *node {
	into, last := r.parent(keys), keys[len(keys)-1]
	made := newTable(last.line)
	made.header = true
	if into == nil {
		return made
	}
	list, there := into.table[last.name]
	if !there {
		list = &node{kind: tables, line: last.line}
		into.set(last.name, list)
	}
	if list.kind == broken {
		return made
	}
	if list.kind != tables {
		r.report.Mistake(last.line, "write [["+last.name+"]], with two brackets, everywhere",
			"%q is already %s in line %d", last.name, list.kind, list.line)
		return made
	}
	list.items = append(list.items, made)
	return made
}

// parent walks to the table a header's last key is in: the latest one, where
// the way leads through a list of tables. It is nil after a mistake.
func (r *reader) parent(keys []key) *node {
	into := r.root
	for _, k := range keys[:len(keys)-1] {
		next, there := into.table[k.name]
		if !there {
			next = newTable(k.line)
			into.set(k.name, next)
		}
		if next.kind == tables {
			next = next.items[len(next.items)-1]
		}
		if next.kind == broken {
			return nil
		}
		if next.kind != table || next.closed {
			r.report.Mistake(k.line, "choose another name", "%q is already %s in line %d, to which nothing can be added",
				k.name, next.kind, next.line)
			return nil
		}
		into = next
	}
	return into
}
