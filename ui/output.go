package ui

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/internal/page"
)

// outputShown is how many bytes of an output a page has, of its end.
const outputShown = 8 << 10

// output is what a run has written, on the page of its job.
type output struct {
	Seq     int64
	Live    bool
	Text    string
	Path    string // of the whole
	Left    string // how many bytes are not shown
	Omitted string // how many bytes were not kept
}

// colours are what programs write to a terminal for colours.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

func newOutput(v view, o *durable.RunOutput) *output {
	if o == nil || o.Written == 0 {
		return nil
	}
	text := append(append([]byte(nil), o.Head...), o.Tail...)
	p := &output{Seq: o.Seq, Live: o.Live}
	p.Path = view{name: "output", source: v.source, id: v.id, run: o.Seq}.link()
	if n := len(text) - outputShown; n > 0 {
		p.Left = page.Count(n)
		text = text[n:]
	}
	if n := o.Omitted(); n > 0 {
		p.Omitted = page.Count(n)
	}
	p.Text = page.Lines(string(colours.ReplaceAll(text, nil)), outputShown)
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
