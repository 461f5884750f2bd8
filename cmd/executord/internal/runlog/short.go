package runlog

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/outcome"
	"github.com/executor-go/executor/cmd/executord/internal/terminal"
)

// shortLog is a slog.Handler for people at a terminal: a time, a job, a sign and what happened, in as many columns as
// there are.
//
//	14:20:35 hello     ▸ run 1
//	14:20:35 hello     │ hello, run 1
//	14:20:35 hello     ✓ ok 1ms
type shortLog struct {
	to    io.Writer
	look  terminal.Look
	width func() int  // of the terminal, now
	attrs []slog.Attr // of the logger
	names *nameColumn // of all loggers
}

// sign begins what happened.
type sign int

const (
	signNote sign = iota
	signStart
	signOut
	signErr
	signGood
	signBad
	signSkip
	signWarn
)

var signs = [...]struct{ text, ascii, color string }{
	signNote:  {"·", "-", "2"},
	signStart: {"▸", ">", "36"},
	signOut:   {"│", "|", "2"},
	signErr:   {"┃", "!", "31"},
	signGood:  {"✓", "+", "32"},
	signBad:   {"✗", "x", "31"},
	signSkip:  {"⤼", "~", "33"},
	signWarn:  {"!", "!", "33"},
}

// nameColumn is the column with the names of jobs. It is as wide as the longest that was shown.
type nameColumn struct {
	mu    sync.Mutex
	wide  int
	cut   map[string]string // the names that are too long, as they are shown
	taken map[string]bool   // by one of these
}

// The names of jobs take so many columns.
const leastNames, mostNames = 9, 16

// daemonName stands for a job in lines of the daemon's own.
const daemonName = "executord"

func newShortLog(to io.Writer, look terminal.Look, width func() int) *shortLog {
	return &shortLog{to: to, look: look, width: width, names: &nameColumn{wide: leastNames}}
}

func (h *shortLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (h *shortLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.attrs = append(append([]slog.Attr{}, h.attrs...), attrs...)
	return &with
}

// WithGroup ignores the group: nothing in executord has one.
func (h *shortLog) WithGroup(string) slog.Handler { return h }

// Handle writes a record as one or more lines, by one Write.
func (h *shortLog) Handle(_ context.Context, r slog.Record) error {
	attrs := append([]slog.Attr{}, h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	e := event{Record: r, attrs: attrs}
	name := daemonName
	if v, ok := e.take("job"); ok {
		name = v.Resolve().String()
	}
	e.take("trace_id") // too long to be of use here
	s, text := e.short()
	_, err := io.WriteString(h.to, h.lines(r.Time, name, s, text))
	return err
}

// lines returns the lines of an event: its text goes on below its begin where it is too long.
func (h *shortLog) lines(at time.Time, name string, s sign, text string) string {
	name, wide := h.names.fit(job.Printable(name))
	mark := signs[s].text
	if h.look.ASCII {
		mark = signs[s].ascii
	}
	indent := len("15:04:05 ") + wide + 1
	room := max(h.width()-indent-2, 20)
	var b strings.Builder
	b.WriteString(h.look.Paint("2", at.Local().Format(time.TimeOnly)))
	b.WriteString(" " + name + " ")
	for i, line := range terminal.Wrap(text, room) {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", indent))
		}
		b.WriteString(h.look.Paint(signs[s].color, mark) + " ")
		if s == signBad || s == signWarn {
			line = h.look.Paint(signs[s].color, line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// fit returns a name as wide as the column.
func (n *nameColumn) fit(name string) (fitting string, wide int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wide = max(n.wide, min(terminal.Columns(name), mostNames))
	if terminal.Columns(name) > n.wide {
		name = n.shorten(name)
	}
	return name + strings.Repeat(" ", max(n.wide-terminal.Columns(name), 0)), n.wide
}

// shorten cuts a name in its middle: names often differ at their end, as lines of one file do. If another name is shown
// so already, it cuts elsewhere, or counts.
func (n *nameColumn) shorten(name string) string {
	if short, ok := n.cut[name]; ok {
		return short
	}
	room := n.wide - 1
	half := room / 2
	short := around(name, half, room-half)
	for off := 1; n.taken[short] && off <= room-half; off++ {
		if short = around(name, half+off, room-half-off); n.taken[short] && off <= half {
			short = around(name, half-off, room-half+off)
		}
	}
	for i := 2; n.taken[short]; i++ {
		number := "~" + strconv.Itoa(i)
		short = around(name, n.wide-len(number), 0)
		short = short[:len(short)-1] + number
	}
	if n.cut == nil {
		n.cut, n.taken = make(map[string]string), make(map[string]bool)
	}
	n.cut[name], n.taken[short] = short, true
	return short
}

// around returns a name without its middle: the begin and the end that fit as many columns.
func around(name string, head, tail int) string {
	runes := []rune(name)
	i, j := 0, len(runes)
	for i < j && terminal.Columns(string(runes[:i+1])) <= head {
		i++
	}
	for i < j && terminal.Columns(string(runes[j-1:])) <= tail {
		j--
	}
	return string(runes[:i]) + "~" + string(runes[j:])
}

// event is a record, of which short takes what it shows.
type event struct {
	slog.Record
	attrs []slog.Attr
}

// take returns the value of a key, and removes it.
func (e *event) take(key string) (slog.Value, bool) {
	for i, a := range e.attrs {
		if a.Key == key {
			e.attrs = append(e.attrs[:i:i], e.attrs[i+1:]...)
			return a.Value, true
		}
	}
	return slog.Value{}, false
}

// kind is take for what the record is about.
func (e *event) kind() about.Kind {
	v, ok := e.take(about.Key)
	if !ok {
		return about.Other
	}
	k, _ := v.Any().(about.Kind)
	return k
}

// text is take for what is shown.
func (e *event) text(key string) string {
	v, ok := e.take(key)
	if !ok {
		return ""
	}
	return shortValue(v)
}

// shortValue returns a value as it is shown.
func shortValue(v slog.Value) string {
	if t, ok := v.Any().(about.Time); ok {
		return shortTime(t.Time)
	}
	switch v = v.Resolve(); v.Kind() {
	case slog.KindDuration:
		return shortDuration(v.Duration())
	case slog.KindTime:
		return shortTime(v.Time())
	}
	return job.Printable(v.String())
}

// shortDuration returns a duration with three digits, or to the second.
func shortDuration(d time.Duration) string {
	unit := time.Duration(1)
	for unit < time.Second && d.Abs()/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// shortTime returns a time in the form of the log without what today is: its date, and the zone of the log.
func shortTime(t time.Time) string {
	now := time.Now().In(t.Location())
	form := "2006-01-02 15:04:05"
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		form = "15:04:05"
	}
	if _, here := t.Local().Zone(); here != offset(t) {
		form += " -07:00"
	}
	return t.Format(form)
}

func offset(t time.Time) int {
	_, seconds := t.Zone()
	return seconds
}

// short returns what happened, in a few words.
func (e *event) short() (sign, string) {
	switch e.text("stream") {
	case "stdout":
		return signOut, e.Message
	case "stderr":
		return signErr, e.Message
	}
	switch e.kind() {
	case about.RunStarted:
		text := "run " + e.text("run")
		if attempt := e.text("attempt"); attempt != "" {
			text += ", attempt " + attempt
		}
		if late, ok := e.take("late"); ok && late.Duration() >= time.Second {
			text += ", " + shortDuration(late.Duration()) + " late"
		}
		if with := e.text("with"); with != "" {
			text += " with " + with
		}
		return signStart, text
	case about.RunEnded:
		return e.ended()
	case about.RunRetried:
		return e.retried()
	case about.RunNotStarted:
		if e.Level < slog.LevelError {
			return signSkip, "not started: " + e.text("reason")
		}
		return signBad, "not started: " + e.text("reason")
	case about.RunDelayed:
		return signNote, "delayed until " + e.text("until")
	case about.RunWaits:
		if e.text("group") == "" {
			return signNote, "waits: " + e.text("reason")
		}
		return signNote, "waits for its group, " + e.text("reason")
	case about.RunExcluded:
		return signSkip, "excluded: " + e.text("reason")
	case about.RunsSkipped:
		return signSkip, e.text("count") + " skipped, run " + e.text("running") + " goes on"
	case about.RunsMissed:
		return signSkip, e.text("count") + " missed: " + e.text("reason")
	case about.JobScheduled:
		text := e.text("schedule")
		if next := e.text("next"); next != "" {
			text += ", next " + next
		}
		if change := e.text("change"); change != "" && change != "new" && change != "unchanged" {
			text += " (" + change + ")"
		}
		return signNote, text
	case about.JobElsewhere:
		return signNote, "not for this machine, " + e.text("machine") + ": on " + e.text("on")
	case about.NoMachine:
		return signWarn, "no machine: " + e.text("reason") + e.hinted()
	case about.MachineFound:
		return signNote, "has a machine again"
	case about.Note:
		return signWarn, filepath.Base(e.text("file")) + ":" + e.text("line") + ": " + e.text("what") + e.hinted()
	case about.Listening:
		return signNote, "listening at " + e.text("at")
	case about.Started:
		text := "started: " + terminal.Count(e.text("jobs"), "job") + " of " + e.text("file")
		if store := e.text("store"); store != "" {
			text += ", in " + store + " as " + e.text("namespace")
		}
		if machine := e.text("machine"); machine != "" {
			text += ", on " + machine
		}
		return signNote, text
	case about.ReadAgain:
		return signNote, "read again: " + terminal.Count(e.text("jobs"), "job") + " of " + e.text("file")
	case about.Draining:
		return signNote, "draining, " + terminal.Count(e.text("running"), "run") + " in progress: " + e.text("reason")
	case about.Stopping:
		return signWarn, "stopping, " + terminal.Count(e.text("running"), "run") + " with " + e.text("grace") + " to end: " +
			e.text("reason")
	case about.JobSummary:
		return signNote, e.counts()
	case about.Ended:
		return signNote, "ended: " + e.counts()
	}
	return e.sign(), e.rest()
}

// sign returns the sign of the level.
func (e *event) sign() sign {
	switch {
	case e.Level >= slog.LevelError:
		return signBad
	case e.Level >= slog.LevelWarn:
		return signWarn
	}
	return signNote
}

// ended returns how a run ended.
func (e *event) ended() (sign, string) {
	s, o := e.sign(), outcome.Outcome(e.text("outcome"))
	if o == outcome.OK {
		s = signGood
	}
	text := e.how(o)
	if note := e.text("note"); note != "" {
		text += ", " + note
	}
	if n := e.text("unlogged"); n != "" {
		text += ", " + n + " lines are not here"
	}
	return s, text
}

// retried returns how an attempt ended that is followed by another.
func (e *event) retried() (sign, string) {
	o := outcome.Outcome(e.text("outcome"))
	text := string(o) + ": " + e.text("reason")
	if o != outcome.NotStarted {
		text = e.how(o)
	}
	return signSkip, text + ", again in " + e.text("wait")
}

// how returns how a run or an attempt ended, and how long it took.
func (e *event) how(o outcome.Outcome) string {
	text := string(o)
	if o == outcome.Failed {
		if text = "exit " + e.text("exit"); text == "exit " {
			text = e.text("signal")
		}
	}
	return text + " " + e.text("took")
}

// counts returns what became of the times of a job, or of all.
func (e *event) counts() string {
	text := terminal.Count(e.text("runs"), "run")
	for _, key := range []string{"failed", "skipped", "missed", "interrupted"} {
		if n := e.text(key); n != "" && n != "0" {
			text += ", " + n + " " + key
		}
	}
	return text
}

// rest returns the message, with all that goes with it.
func (e *event) rest() string {
	text := job.Printable(e.Message)
	reason, hint := e.text("reason"), e.hinted()
	if reason == "" {
		reason = e.text("error")
	}
	for _, a := range e.attrs {
		if value := shortValue(a.Value); value != "" {
			text += " " + a.Key + "=" + value
		}
	}
	if reason != "" {
		text += ": " + reason
	}
	return text + hint
}

// hinted returns what is to be done, in a line of its own.
func (e *event) hinted() string {
	if hint := e.text("hint"); hint != "" {
		return "\nhint: " + hint
	}
	return ""
}
