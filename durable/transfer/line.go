package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// A line has one of these: the header, a row, or the end. Their names, and those of their fields, are stored: do not
// change them, and see Format.
type line struct {
	Store  *header           `json:"store,omitempty"`
	Job    *jobLine          `json:"job,omitempty"`
	After  *store.JobAfter   `json:"after,omitempty"`
	Run    *runLine          `json:"run,omitempty"`
	Step   *stepLine         `json:"step,omitempty"`
	Paused *store.PausedKind `json:"paused,omitempty"`
	Bucket *store.Bucket     `json:"bucket,omitempty"`
	Turn   *store.Turn       `json:"turn,omitempty"`
	Act    *store.Act        `json:"act,omitempty"`
	End    *end              `json:"end,omitempty"`
}

type header struct {
	Format   int       `json:"format"`
	Exported time.Time `json:"exported"`
}

type end struct {
	Rows   Rows   `json:"rows"`
	SHA256 string `json:"sha256"` // of the lines before
}

// jobLine, runLine and stepLine tell an empty result, or output, from none.
type (
	jobLine struct {
		*store.Job
		Result *[]byte `json:"result,omitempty"`
	}
	runLine struct {
		*store.Run
		Output *[]byte `json:"output,omitempty"`
	}
	stepLine struct {
		Of store.ID `json:"job"`
		*store.KeptStep
		Result *[]byte `json:"result,omitempty"`
	}
)

// some returns nil for no bytes, and bytes returns none for nil.
func some(b []byte) *[]byte {
	if b == nil {
		return nil
	}
	return &b
}

func bytesOf(b *[]byte) []byte {
	if b == nil {
		return nil
	}
	return *b
}

// lineOf returns the line of a row.
func lineOf(row store.Row) line {
	l := line{After: row.After, Paused: row.Paused, Bucket: row.Bucket, Turn: row.Turn, Act: row.Act}
	switch {
	case row.Job != nil:
		l.Job = &jobLine{row.Job, some(row.Job.Result)}
	case row.Run != nil:
		l.Run = &runLine{&row.Run.Run, some(row.Run.Output)}
	case row.Step != nil:
		l.Step = &stepLine{row.Step.Job, &row.Step.KeptStep, some(row.Step.Result)}
	}
	return l
}

// row returns the row of a line.
func (l *line) row() store.Row {
	row := store.Row{After: l.After, Paused: l.Paused, Bucket: l.Bucket, Turn: l.Turn, Act: l.Act}
	switch {
	case l.Job != nil:
		row.Job = l.Job.Job
		row.Job.Result = bytesOf(l.Job.Result)
	case l.Run != nil:
		row.Run = &store.KeptRun{Run: *l.Run.Run, Output: bytesOf(l.Run.Output)}
	case l.Step != nil:
		row.Step = &store.JobStep{Job: l.Step.Of, KeptStep: *l.Step.KeptStep}
		row.Step.Result = bytesOf(l.Step.Result)
	}
	return row
}

// parse reads a line.
func parse(text []byte) (*line, error) {
	l := new(line)
	if err := strict(text, l); err != nil {
		if named := locate("", text, reflect.TypeFor[line]()); named != nil {
			return nil, named
		}
		return nil, err
	}
	l.complete()
	return l, nil
}

// complete makes what a line embeds, of which its text has no field.
func (l *line) complete() {
	if l.Job != nil && l.Job.Job == nil {
		l.Job.Job = new(store.Job)
	}
	if l.Run != nil && l.Run.Run == nil {
		l.Run.Run = new(store.Run)
	}
	if l.Step != nil && l.Step.KeptStep == nil {
		l.Step.KeptStep = new(store.KeptStep)
	}
}

// strict reads a JSON value that has no fields which v does not have.
func strict(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("%.20q comes after the value", rest)
	}
	return nil
}

// locate returns the error of the first field of a JSON object that can't be read into a struct of that type, with the
// name of that, nil if there is none.
func locate(path string, text []byte, of reflect.Type) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		if path == "" {
			return fmt.Errorf("it is no JSON object: %w", err)
		}
		return fmt.Errorf("%s: it must be a JSON object: %w", path, err)
	}
	known := fieldsOf(of)
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err != nil {
			return nil
		}
		name, ok := token.(string)
		if !ok {
			continue // the brace
		}
		value := object[name]
		field := strings.TrimPrefix(path+"."+name, ".")
		t, ok := known[name]
		if !ok {
			return fmt.Errorf("%s: no such field; a newer version may have made the file", field)
		}
		if err := strict(value, reflect.New(t).Interface()); err != nil {
			for t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			if t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(unmarshaler) {
				if named := locate(field, value, t); named != nil {
					return named
				}
			}
			if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
				return fmt.Errorf("%s: it is a %s", field, wrong.Value)
			}
			return fmt.Errorf("%s: %w", field, err)
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return nil
		}
	}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// fieldsOf returns the types of the fields of a struct by their names in JSON, outer ones before those of embedded
// ones.
func fieldsOf(of reflect.Type) map[string]reflect.Type {
	fields := make(map[string]reflect.Type)
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" {
			fields[name] = f.Type
		}
	}
	for f := range of.Fields() {
		if !f.Anonymous {
			continue
		}
		t := f.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		for name, inner := range fieldsOf(t) {
			if _, ok := fields[name]; !ok {
				fields[name] = inner
			}
		}
	}
	return fields
}
