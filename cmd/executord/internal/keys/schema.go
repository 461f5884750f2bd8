package keys

import (
	"regexp"
	"slices"
	"strings"

	"github.com/executor-go/executor/cmd/executord/internal/notify"
)

// Schema returns the JSON schema of a job file in TOML, as a value for package json. It is of draft 7, which the
// editors know that have schemas for TOML.
//
// It says what a file may look like, and not all that is right: the reader has the last word.
func Schema() map[string]any {
	own, above := make(map[string]any), make(map[string]any)
	for _, k := range All {
		own[k.Name] = k.schema()
		if k.In(Above) {
			above[k.Name] = k.schema()
		}
	}
	above["job"] = map[string]any{
		"type":        "array",
		"description": "The jobs. Each begins with a line [[job]].",
		"items": map[string]any{
			"type":                 "object",
			"properties":           own,
			"required":             Names(Needed),
			"oneOf":                []any{map[string]any{"required": []string{"command"}}, map[string]any{"required": []string{"url"}}},
			"additionalProperties": false,
		},
	}
	above["notify"] = map[string]any{
		"type":                 "object",
		"description":          "Channels for notifications about jobs: [notify.NAME].",
		"additionalProperties": channel(),
	}
	above["group"] = map[string]any{
		"type":        "object",
		"description": "Groups of jobs: [group.NAME].",
		"additionalProperties": map[string]any{
			"type": "object", "required": []string{"limit"}, "additionalProperties": false,
			"properties": map[string]any{"limit": map[string]any{
				"type": "integer", "minimum": 1, "maximum": 1000, "description": "How many jobs of the group run at a time, at most.",
			}},
		},
	}
	return map[string]any{
		"$schema":              "http://json-schema.org/draft-07/schema#",
		"title":                "A job file of executord",
		"description":          "Keys above all jobs are defaults for jobs that do not set them.",
		"type":                 "object",
		"properties":           above,
		"additionalProperties": false,
	}
}

// channel returns that of a [notify.NAME].
func channel() map[string]any {
	properties := make(map[string]any)
	for _, setting := range notify.Settings {
		value := map[string]any{"type": []string{"string", "integer", "boolean"}}
		if setting.Values != nil && setting.Values[0] != "true" {
			value = map[string]any{"enum": setting.Values}
		}
		if setting.Table {
			value = map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
		}
		if setting.List {
			value = map[string]any{"anyOf": []any{value, map[string]any{"type": "array", "items": value}}}
		}
		value["description"] = setting.Doc
		properties[setting.Name] = value
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

// links are those of Markdown, and plain takes its other marks away.
var (
	links = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	plain = strings.NewReplacer("`", "", `\|`, "|")
)

// schema returns that of the values of a key.
func (k *Key) schema() map[string]any {
	s := map[string]any{"description": plain.Replace(links.ReplaceAllString(k.Doc, "$1"))}
	texts := map[string]any{"type": "string"}
	switch k.Kind {
	case Text:
		s["type"] = "string"
		if k.Values != nil {
			s["enum"] = k.Values
		}
	case Duration:
		s["type"], s["pattern"] = "string", `^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)(h|m|s|ms|us|µs|μs|ns)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(h|m|s|ms|us|µs|μs|ns))*$|^[+-]?0$`
	case Truth:
		s["type"] = "boolean"
	case Number:
		s["type"], s["minimum"] = "integer", 0
	case Numbers:
		whole := map[string]any{"type": "integer", "minimum": 0}
		s["anyOf"] = []any{whole, map[string]any{"type": "array", "minItems": 1, "items": whole}}
	case List:
		s["anyOf"] = []any{texts, map[string]any{"type": "array", "items": texts}}
	case Command:
		s["anyOf"] = []any{
			map[string]any{"type": "string", "minLength": 1},
			map[string]any{"type": "array", "minItems": 1, "items": texts},
		}
	case Headers:
		s["type"], s["additionalProperties"] = "object", texts
	case Parameters:
		own := map[string]any{"values": map[string]any{"type": "array", "minItems": 1, "items": texts}}
		for _, key := range ParameterKeys {
			if key.Name != "values" {
				own[key.Name] = map[string]any{"type": "string"}
			}
			own[key.Name].(map[string]any)["description"] = key.Doc
		}
		s["type"] = "object"
		s["additionalProperties"] = map[string]any{"anyOf": []any{texts, map[string]any{
			"type": "object", "properties": own, "additionalProperties": false,
		}}}
		s["propertyNames"] = map[string]any{"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	case Files:
		s["type"], s["additionalProperties"] = "object", map[string]any{"type": "string", "pattern": "^/"}
		s["propertyNames"] = map[string]any{"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	case Variables:
		s["type"], s["additionalProperties"] = "object", texts
		s["propertyNames"] = map[string]any{"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	}
	if k.Example != "" && !slices.Contains([]Kind{Truth, Number, Numbers, Files}, k.Kind) {
		s["examples"] = []any{k.Example}
	}
	return s
}
