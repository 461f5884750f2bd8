package transfer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/durable/internal/argument"
	"github.com/executor-go/executor/durable/store"
)

// maxLine is how many bytes a line may have. The longest that Export writes are those of a job with a payload and a
// result of the greatest length, or with the most parents.
const maxLine = 64 << 20

// A reader reads lines, and checks what no store is to be asked to take.
type reader struct {
	Summary
	in   *bufio.Reader
	hash hash.Hash
	at   int // of the line

	section int        // of the row before
	jobs    []knownJob // in the order of their IDs
	blocked map[store.ID]bool
	last    store.Row        // of the same section
	steps   map[stepKey]bool // of the job of the last step
}

// A knownJob is one that was read.
type knownJob struct {
	id   store.ID
	runs int64
}

type stepKey struct {
	occasion time.Time
	name     string
	signal   bool
}

func newReader(r io.Reader) *reader {
	return &reader{in: bufio.NewReaderSize(r, 1<<16), hash: sha256.New(), blocked: make(map[store.ID]bool)}
}

// rows yields the rows, and then nothing or an error.
func (r *reader) rows(yield func(store.Row, error) bool) {
	fail := func(err error) { yield(store.Row{}, err) }
	first, _, err := r.next()
	if err == nil {
		err = r.begin(first)
	}
	if err != nil {
		fail(err)
		return
	}
	for {
		l, text, err := r.next()
		if err != nil {
			fail(err)
			return
		}
		if l.End != nil {
			if err := r.finish(l.End); err != nil {
				fail(err)
			}
			return
		}
		row := l.row()
		if err := r.check(row, text); err != nil {
			fail(r.wrong("%w", err))
			return
		}
		r.count(row)
		if !yield(row, nil) {
			return
		}
	}
}

// wrong returns an error about the line.
func (r *reader) wrong(format string, args ...any) error {
	return argument.Invalid("line %d: %w", r.at, fmt.Errorf(format, args...))
}

// next reads a line.
func (r *reader) next() (*line, []byte, error) {
	r.at++
	text, err := r.read()
	if err != nil {
		return nil, nil, err
	}
	l, err := parse(text)
	if err != nil {
		return nil, nil, r.wrong("%w", err)
	}
	if l.End == nil {
		r.hash.Write(text)
	}
	return l, text, nil
}

// read returns the bytes of the next line, with its end.
func (r *reader) read() ([]byte, error) {
	var text []byte
	for {
		part, err := r.in.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case err == nil:
			return text, nil
		case len(text) > maxLine:
			return nil, r.wrong("it has more than %d bytes, which no row has", maxLine)
		case err == io.EOF:
			return nil, r.wrong("the export ends before its last line, {\"end\": ...}: it was cut; export again")
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("line %d: %w", r.at, err)
		}
	}
}

// begin reads the header.
func (r *reader) begin(l *line) error {
	switch h := l.Store; {
	case h == nil:
		return r.wrong("it must be {\"store\": ...}: this is no export of a store")
	case h.Format < 1 || h.Format > Format:
		return r.wrong("store.format %d: this program knows formats up to %d; use a newer one", h.Format, Format)
	default:
		r.Format, r.Exported = h.Format, h.Exported.UTC()
		return nil
	}
}

// finish checks the last line.
func (r *reader) finish(e *end) error {
	sum := hex.EncodeToString(r.hash.Sum(nil))
	switch {
	case e.Rows != r.Rows:
		return r.wrong("end.rows: %+v, but there are %+v: lines are missing, or were added", e.Rows, r.Rows)
	case e.SHA256 != sum:
		return r.wrong("end.sha256: the lines before have %s: they were changed; export again", sum)
	}
	if err := r.unblocked(); err != nil {
		return r.wrong("%w", err)
	}
	if _, err := r.in.ReadByte(); err != io.EOF {
		if err != nil {
			return fmt.Errorf("line %d: %w", r.at+1, err)
		}
		r.at++
		return r.wrong("it comes after the last line, {\"end\": ...}")
	}
	return nil
}

// unblocked returns an error if a job waits for others, and it is not said for which.
func (r *reader) unblocked() error {
	for id := range r.blocked {
		return fmt.Errorf("job %v is blocked, and no line {\"after\": ...} says by what", id)
	}
	return nil
}

// find returns the job with an ID that was read.
func (r *reader) find(field string, id store.ID) (knownJob, error) {
	i, ok := slices.BinarySearchFunc(r.jobs, id, func(j knownJob, id store.ID) int { return bytes.Compare(j.id[:], id[:]) })
	if !ok {
		return knownJob{}, fmt.Errorf("%s %v: no line before has that job", field, id)
	}
	return r.jobs[i], nil
}

// sections are the names of rows, in their order.
var sections = []string{"job", "after", "run", "step", "paused", "bucket", "turn", "act"}

// check returns what is wrong with a row, with the name of its field.
func (r *reader) check(row store.Row, text []byte) error {
	present := []bool{row.Job != nil, row.After != nil, row.Run != nil, row.Step != nil, row.Paused != nil, row.Bucket != nil, row.Turn != nil, row.Act != nil}
	section := slices.Index(present, true)
	switch {
	case section < 0:
		return errors.New("it has no row")
	case slices.Contains(present[section+1:], true):
		return errors.New("it has more than one row")
	case section < r.section:
		return fmt.Errorf("%s: it comes after a line of %s; the order is %s", sections[section], sections[r.section], strings.Join(sections, ", "))
	case section > r.section:
		if r.section, r.last = section, (store.Row{}); section > slices.Index(sections, "after") {
			if err := r.unblocked(); err != nil {
				return err
			}
		}
	}
	if err := clean(text); err != nil {
		return err
	}
	var err error
	switch {
	case row.Job != nil:
		err = r.job(row.Job)
	case row.After != nil:
		err = r.after(row.After)
	case row.Run != nil:
		err = r.run(row.Run)
	case row.Step != nil:
		err = r.step(row.Step)
	case row.Paused != nil:
		err = named("paused.kind", row.Paused.Kind)
	case row.Bucket != nil:
		row.Bucket.Full = moment(row.Bucket.Full)
		err = named("bucket.kind", row.Bucket.Kind)
	case row.Turn != nil:
		t := row.Turn
		t.At = moment(t.At)
		err = first(named("turn.kind", t.Kind), named("turn.partition", t.Partition),
			within("turn.priority", int64(t.Priority), int64(store.Low), int64(store.High)))
	case row.Act != nil:
		row.Act.At = moment(row.Act.At)
		if r.last.Act != nil && row.Act.Seq <= r.last.Act.Seq {
			err = errors.New("act.seq: it must come after that of the line before")
		}
	}
	r.last = row
	return err
}

// clean returns an error if a text in a line has a zero byte, which databases do not take. The meta of a job may have
// some: it is JSON there, too.
func clean(text []byte) error {
	if !bytes.Contains(text, []byte(`\u0000`)) {
		return nil
	}
	return zeroIn("", text)
}

// zeroIn returns the error of the first text in a JSON value that has a zero byte.
func zeroIn(path string, text []byte) error {
	if path == "job.meta" {
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) == nil {
		for name, value := range object {
			if err := zeroIn(strings.TrimPrefix(path+"."+name, "."), value); err != nil {
				return err
			}
		}
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil {
		for i, value := range list {
			if err := zeroIn(fmt.Sprintf("%s[%d]", path, i), value); err != nil {
				return err
			}
		}
		return nil
	}
	var s string
	if json.Unmarshal(text, &s) == nil && strings.ContainsRune(s, 0) {
		return fmt.Errorf("%s %.40q: it has a zero byte", path, s)
	}
	return nil
}

// named returns the error of a text that must not be empty.
func named(field, text string) error {
	if text == "" {
		return fmt.Errorf("%s: it is missing", field)
	}
	return nil
}

// within returns the error of a number that is out of range.
func within(field string, n, least, most int64) error {
	if n < least || n > most {
		return fmt.Errorf("%s %d: it must be %d to %d", field, n, least, most)
	}
	return nil
}

// These are what databases take: sqlrow.Most and sqlrow.MostSmall.
const most, mostSmall = 1 << 62, 1 << 30

// moment returns a time as stores have it.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) job(j *store.Job) error {
	for _, t := range []*time.Time{&j.Anchor, &j.Due, &j.Occurrence, &j.NextDue, &j.Started, &j.Created, &j.Updated} {
		*t = moment(*t)
	}
	j.Timeout = j.Timeout.Truncate(time.Microsecond)
	err := first(named("job.kind", j.Kind), named("job.schedule", j.Schedule),
		within("job.priority", int64(j.Priority), int64(store.Low), int64(store.High)),
		within("job.pending", int64(j.Pending), int64(store.PendingNone), int64(store.PendingPause)),
		within("job.epoch", j.Epoch, 0, most), within("job.runs", j.Runs, 0, most),
		within("job.attempt", int64(j.Attempt), 0, mostSmall), within("job.attempts", int64(j.Attempts), 0, mostSmall),
		within("job.lost", int64(j.Lost), 0, mostSmall), within("job.timeout", int64(j.Timeout), 0, math.MaxInt64), checkTags(j.Tags))
	switch {
	case err != nil:
		return err
	case j.ID == store.ID{}:
		return errors.New("job.id: it is missing")
	case r.last.Job != nil && bytes.Compare(j.ID[:], r.last.Job.ID[:]) <= 0:
		return errors.New("job.id: it must come after that of the line before")
	case j.Due.IsZero():
		return errors.New("job.due: it is missing")
	case j.State.Held() != (j.Owner != ""):
		return fmt.Errorf("job.owner %q: a job that is %v must have one if a node has it, and none otherwise", j.Owner, j.State)
	case j.State == store.Running && (j.Started.IsZero() || j.Attempt == 0):
		return errors.New("job.started: it is missing, or job.attempt is, of a job that is running")
	}
	if data, err := json.Marshal(j.Meta); len(j.Meta) > 0 && (err != nil || len(data) > store.MaxMeta) {
		return fmt.Errorf("job.meta: it has %d bytes; at most %d are allowed", len(data), store.MaxMeta)
	}
	if j.State == store.Blocked {
		r.blocked[j.ID] = true
	}
	r.jobs = append(r.jobs, knownJob{j.ID, j.Runs})
	return nil
}

func checkTags(tags []string) error {
	if len(tags) > store.MaxTags {
		return fmt.Errorf("job.tags: there are %d; at most %d are allowed", len(tags), store.MaxTags)
	}
	for i, tag := range tags {
		switch {
		case tag == "" || len(tag) > store.MaxTag || strings.Contains(tag, "\n"):
			return fmt.Errorf("job.tags %.40q: it must have 1 to %d bytes, in one line", tag, store.MaxTag)
		case i > 0 && tags[i-1] >= tag:
			return fmt.Errorf("job.tags %.40q: they must be in order, each once", tag)
		}
	}
	return nil
}

func (r *reader) after(a *store.JobAfter) error {
	if _, err := r.find("after.job", a.Job); err != nil {
		return err
	}
	if r.last.After != nil && bytes.Compare(a.Job[:], r.last.After.Job[:]) <= 0 {
		return errors.New("after.job: it must come after that of the line before")
	}
	if len(a.Parents) == 0 {
		return errors.New("after.parents: there are none")
	}
	for i, p := range a.Parents {
		if p.ID == (store.ID{}) || p.ID == a.Job {
			return fmt.Errorf("after.parents[%d].id %v: it must be that of another job", i, p.ID)
		}
		if p.State != store.Waiting && !p.State.Done() {
			return fmt.Errorf("after.parents[%d].state %v: it must be one in which the parent has ended, or waiting", i, p.State)
		}
	}
	delete(r.blocked, a.Job)
	return within("after.need", int64(a.Need), 1, int64(len(a.Parents)))
}

func (r *reader) run(k *store.KeptRun) error {
	for _, t := range []*time.Time{&k.Occurrence, &k.Started, &k.Finished} {
		*t = moment(*t)
	}
	of, err := r.find("run.job", k.Job)
	if err != nil {
		return err
	}
	if last := r.last.Run; last != nil {
		if c := bytes.Compare(k.Job[:], last.Job[:]); c < 0 || c == 0 && k.Seq <= last.Seq {
			return errors.New("run.seq: it must come after that of the line before")
		}
	}
	return first(within("run.seq", k.Seq, 1, max(of.runs, 1)), within("run.attempt", int64(k.Attempt), 0, mostSmall),
		within("run.epoch", k.Epoch, 0, most))
}

func (r *reader) step(k *store.JobStep) error {
	k.Occasion, k.At = moment(k.Occasion), moment(k.At)
	if _, err := r.find("step.job", k.Job); err != nil {
		return err
	}
	last := r.last.Step
	if last == nil || last.Job != k.Job {
		r.steps = make(map[stepKey]bool)
	}
	if last != nil {
		if c := bytes.Compare(k.Job[:], last.Job[:]); c < 0 || c == 0 && k.At.Before(last.At) {
			return errors.New("step.at: it must come after that of the line before")
		}
	}
	key := stepKey{k.Occasion, k.Name, k.Signal}
	if r.steps[key] {
		return fmt.Errorf("step.name %q: a line before has it", k.Name)
	}
	r.steps[key] = true
	return named("step.name", k.Name)
}
