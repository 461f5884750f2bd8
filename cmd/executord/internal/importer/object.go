package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readYAML returns the documents of a file of YAML, or of JSON.
func readYAML(data []byte) (docs []any, err error) {
	var doc any
	if json.Unmarshal(data, &doc) == nil { // JSON may have tabs where YAML has none
		return []any{doc}, nil
	}
	for dec := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc any
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
}

// object is a table of YAML or JSON that knows what was read of it.
type object struct {
	values map[string]any
	read   map[string]bool
}

// newObject returns the table that a value is, an empty one if it is none.
func newObject(value any) *object {
	o := &object{values: map[string]any{}, read: map[string]bool{}}
	switch v := value.(type) {
	case map[string]any:
		o.values = v
	case map[any]any:
		for key, value := range v {
			o.values[fmt.Sprint(key)] = value
		}
	}
	return o
}

func (o *object) has(key string) bool {
	_, ok := o.values[key]
	return ok
}

// get returns a value, and marks it as read.
func (o *object) get(key string) any {
	o.read[key] = true
	return o.values[key]
}

// text returns a value as text, "" for tables, lists, and nothing.
func (o *object) text(key string) string {
	switch v := o.get(key).(type) {
	case nil, map[string]any, map[any]any, []any:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// truth reports whether a value is true, 1, or the text of that.
func (o *object) truth(key string) bool {
	text := o.text(key)
	return text == "true" || text == "1"
}

func (o *object) object(key string) *object { return newObject(o.get(key)) }

// list returns the elements of a list; a value that is none is its only one.
func (o *object) list(key string) []any {
	switch v := o.get(key).(type) {
	case nil:
		return nil
	case []any:
		return v
	default:
		return []any{v}
	}
}

// texts returns the elements of a list as texts.
func (o *object) texts(key string) (texts []string) {
	for _, v := range o.list(key) {
		texts = append(texts, fmt.Sprint(v))
	}
	return texts
}

// keys returns the keys in order.
func (o *object) keys() []string { return slices.Sorted(maps.Keys(o.values)) }

// rest tells the job of what was not read, unless it says nothing.
func (o *object) rest(j *Job, where string) {
	for _, key := range o.keys() {
		if o.read[key] || isNothing(o.values[key]) {
			continue
		}
		j.lose("%s%s = %s", where, key, brief(o.values[key]))
	}
}

func isNothing(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return slices.Contains([]string{"", "0", "false", "<nil>"}, fmt.Sprint(value))
}

// brief returns a value on one line, cut if it is long.
func brief(value any) string {
	text := fmt.Sprint(value)
	if _, isText := value.(string); !isText {
		if out, err := yaml.Marshal(value); err == nil {
			text = strings.TrimSpace(string(out))
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:60]) + "..."
	}
	return text
}
