package ui

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
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

func newOutput(v view, o *durable.RunOutput) *output {
	if o == nil || o.Written == 0 {
		return nil
	}
	text := append(append([]byte(nil), o.Head...), o.Tail...)
	p := &output{Job: v.id.String(), Seq: o.Seq, Live: o.Live, Find: v.search}
	p.Path = view{name: "output", source: v.source, id: v.id, run: o.Seq}.link()
	if v.search != "" {
		text = linesWith(text, v.search)
	}
	if n := len(text) - outputShown; n > 0 {
		if end := bytes.IndexByte(text[n:], '\n'); end >= 0 {
			n += end + 1 // whole lines
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

// serveOutput answers with what is kept of the output of a run, as text.
func (u *UI) serveOutput(w http.ResponseWriter, r *http.Request, access Access) {
	v, err := u.viewOf("job", r.URL.Query(), access)
	if err != nil {
		u.serveError(w, r, v, err)
		return
	}
	o, err := u.source(v.source).Jobs.Output(r.Context(), v.id, v.run)
	if errors.Is(err, durable.ErrNotFound) {
		err = &gone{fmt.Sprintf("there is no run %d of that job; it may have been removed", v.run)}
	}
	if err != nil {
		u.serveError(w, r, v, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", `inline; filename="`+v.id.String()+"-"+strconv.FormatInt(o.Seq, 10)+`.txt"`)
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(o.Head) // the browser may have left
	if n := o.Omitted(); n > 0 {
		fmt.Fprintf(w, "\n... %d bytes were not kept ...\n", n)
	}
	_, _ = w.Write(o.Tail)
}

// progress is how far a run has come.
type progress struct {
	Done, Total int64 // Total is 0 if it is not known
	Text        string
}

// newProgress returns nil if nothing is known.
func newProgress(r *durable.RunProgress, started time.Time) *progress {
	if r == nil {
		return nil
	}
	p := &progress{Done: r.Done, Total: r.Total}
	if r.Total == 0 {
		p.Text = page.Count(r.Done)
	} else {
		p.Done = min(r.Done, r.Total)
		p.Text = fmt.Sprintf("%s of %s, %d %%", page.Count(r.Done), page.Count(r.Total), int(100*float64(p.Done)/float64(r.Total)))
		if took := r.At.Sub(started); r.Done > 0 && r.Done < r.Total && took > 0 && !started.IsZero() {
			left := time.Duration(float64(took) * float64(r.Total-r.Done) / float64(r.Done))
			p.Text += ", about " + page.Age(left) + " left"
		}
	}
	if r.Note != "" {
		p.Text += ": " + page.Printable(r.Note, 200)
	}
	return p
}
