package job

import (
	"bufio"
	"encoding/json"
	"io"
)

// WriteJSON writes a line of JSON for each element, without characters that can't be seen.
func WriteJSON[T any](w io.Writer, list []T) error {
	buffer := bufio.NewWriter(w)
	out := NewEncoder(buffer)
	for _, one := range list {
		if err := out.Encode(one); err != nil {
			return err
		}
	}
	return buffer.Flush()
}

// NewEncoder returns an encoder of lines of JSON that have no characters that can't be seen.
func NewEncoder(w io.Writer) *json.Encoder {
	out := json.NewEncoder(PrintableWriter(w))
	out.SetEscapeHTML(false)
	return out
}

// PrintableWriter returns a writer of lines of JSON, each of which it writes as PrintableJSON returns it.
func PrintableWriter(to io.Writer) io.Writer { return printable{to} }

type printable struct{ to io.Writer }

func (p printable) Write(line []byte) (int, error) {
	if _, err := p.to.Write(PrintableJSON(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}
