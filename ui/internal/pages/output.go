package pages

import (
	"bytes"
	"html/template"
	"strings"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui/internal/address"
	"github.com/executor-go/executor/ui/page"
)

// outputShown is how many bytes of an output a page has, of its end.
const outputShown = 8 << 10

// output is what a run has written, on the page of its job.
type output struct {
	Job     string // its ID
	Seq     int64
	Live    bool
	Find    string // what lines must have to be shown
	Text    template.HTML
	Path    string // of the whole
	Left    string // how many bytes are not shown
	Omitted string // how many bytes were not kept
}

// linesWith returns the lines that have a text, whatever the case of its letters.
func linesWith(text []byte, find string) (found []byte) {
	find = strings.ToLower(find)
	for line := range bytes.Lines(text) {
		if strings.Contains(strings.ToLower(string(line)), find) {
			found = append(found, line...)
		}
	}
	return found
}

// visible returns a line as it can be shown.
func visible(line string) string { return page.Printable(line, outputShown) }

func newOutput(v address.View, o *durable.RunOutput) *output {
	if o == nil || o.Written == 0 {
		return nil
	}
	text := append(append([]byte(nil), o.Head...), o.Tail...)
	p := &output{Job: v.ID.String(), Seq: o.Seq, Live: o.Live, Find: v.Search}
	p.Path = address.View{Name: "output", Source: v.Source, ID: v.ID, Run: o.Seq}.Link()
	if v.Search != "" {
		text = linesWith(text, v.Search)
	}
	if n := len(text) - outputShown; n > 0 {
		if end := bytes.IndexByte(text[n:], '\n'); end >= 0 && n+end+1 < len(text) {
			n += end + 1 // whole lines, but for a last one that is too long
		}
		p.Left = page.Count(n)
		text = text[n:]
	}
	if n := o.Omitted(); n > 0 {
		p.Omitted = page.Count(n)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		b.WriteString(string(page.Coloured(strings.TrimRight(line, "\r\n"), visible)))
		b.WriteByte('\n')
	}
	p.Text = template.HTML(b.String())
	return p
}
