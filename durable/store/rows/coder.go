package rows

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// Schema is the version of the keys and values. What reads rows of a later one loses fields.
const Schema = 1

// A coder writes fields to b or, if reading is set, reads them from the beginning of b, in the same order: so the
// functions below say once what a key or a value has. A field that is added to a value must be the last one. Where b
// ends before it, because the value was written before, it is zero. Anything else needs another Schema.
type coder struct {
	b       []byte
	reading bool
	short   bool  // a field was cut off
	rows    *Rows // when it reads
}

// wrong reports whether what was read is not what was to be read.
func (c *coder) wrong() bool { return c.short || c.reading && len(c.b) > 0 }

// number is a field that is an integer: in the format of package binary for signed ones.
func number[T ~int | ~int8 | ~int64 | ~uint8](c *coder, v *T) {
	switch {
	case !c.reading:
		c.b = binary.AppendVarint(c.b, int64(*v))
	case len(c.b) > 0:
		n, size := binary.Varint(c.b)
		if size <= 0 {
			c.short, c.b = true, nil
			return
		}
		*v, c.b = T(n), c.b[size:]
	}
}

func (c *coder) bool(v *bool) {
	n := 0
	if *v {
		n = 1
	}
	if number(c, &n); c.reading {
		*v = n != 0
	}
}

// ordered is a number that is not negative, in a key: keys are in its order.
func (c *coder) ordered(v *int64) {
	if !c.reading {
		c.b = binary.BigEndian.AppendUint64(c.b, uint64(*v))
	} else if of := c.take(8); of != nil {
		*v = int64(binary.BigEndian.Uint64(of))
	}
}

// id is an ID in a key.
func (c *coder) id(v *store.ID) {
	if !c.reading {
		c.b = append(c.b, v[:]...)
	} else if of := c.take(len(v)); of != nil {
		*v = store.ID(of)
	}
}

// take reads n bytes.
func (c *coder) take(n int) []byte {
	if n > len(c.b) || n < 0 {
		c.short, c.b = true, nil
		return nil
	}
	of := c.b[:n:n]
	c.b = c.b[n:]
	return of
}

// time is in microseconds. The zero time is 0.
func (c *coder) time(v *time.Time) {
	n := int64(0)
	if !c.reading && !v.IsZero() {
		if n = v.UnixMicro(); n >= 0 {
			n++
		}
	}
	if number(c, &n); c.reading && n != 0 {
		if n > 0 {
			n--
		}
		*v = time.UnixMicro(n).UTC()
	}
}

func (c *coder) duration(v *time.Duration) {
	n := v.Microseconds()
	if number(c, &n); c.reading {
		*v = time.Duration(n) * time.Microsecond
	}
}

// bytes is nil or has a length. What is read belongs to the row.
func (c *coder) bytes(v *[]byte) {
	n := 0
	if !c.reading && *v != nil {
		n = len(*v) + 1
	}
	switch number(c, &n); {
	case n == 0:
	case !c.reading:
		c.b = append(c.b, *v...)
	default:
		of := c.take(n - 1)
		*v = append(make([]byte, 0, len(of)), of...)
	}
}

// body is bytes that may have a key of their own.
func (c *coder) body(k bodyKey, v *[]byte) {
	apart := len(*v) > maxInline
	switch c.bool(&apart); {
	case !apart:
		c.bytes(v)
	case c.reading:
		var there bool
		if *v, there = c.rows.bodies[k]; !there {
			c.short = true
		}
	}
}

func (c *coder) text(v *string) {
	n := len(*v)
	if number(c, &n); c.reading {
		*v = string(c.take(n))
	} else {
		c.b = append(c.b, *v...)
	}
}

// name is a text that many rows have: the rows have it in memory once.
func (c *coder) name(v *string) {
	n := len(*v)
	if number(c, &n); !c.reading {
		c.b = append(c.b, *v...)
		return
	}
	of, names := c.take(n), c.rows.names
	name, there := names[string(of)]
	if !there {
		if len(names) == mostNames {
			clear(names)
		}
		name = string(of)
		names[name] = name
	}
	*v = name
}

// mostNames is how many names are kept apart from the rows that have them.
const mostNames = 10_000

// rest is the rest of a key.
func (c *coder) rest(v *string) {
	if c.reading {
		*v, c.b = string(c.b), nil
	} else {
		c.b = append(c.b, *v...)
	}
}

// texts is nil or has a length.
func (c *coder) texts(v *[]string) {
	n := 0
	if !c.reading && *v != nil {
		n = len(*v) + 1
	}
	switch number(c, &n); {
	case n == 0 || !c.reading:
	case n < 0 || n-1 > len(c.b): // each takes a byte at least
		c.short, c.b = true, nil
	default:
		*v = make([]string, n-1)
	}
	for i := range *v {
		c.text(&(*v)[i])
	}
}

func (c *coder) meta(v *map[string]string) {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(*v)) {
		all = append(all, k, (*v)[k])
	}
	if c.texts(&all); !c.reading || len(all) == 0 {
		return
	}
	*v = make(map[string]string, len(all)/2)
	for pair := range slices.Chunk(all, 2) {
		(*v)[pair[0]] = pair[len(pair)-1]
	}
}

func (c *coder) job(id store.ID, j *store.Job) {
	j.ID = id
	c.text(&j.Key)
	c.name(&j.Kind)
	c.body(bodyKey{id, false}, &j.Payload)
	number(c, &j.Priority)
	c.meta(&j.Meta)
	c.texts(&j.Tags)
	c.name(&j.Partition)
	c.name(&j.Queue)
	c.name(&j.Schedule)
	c.name(&j.Missed)
	c.time(&j.Anchor)
	c.time(&j.Due)
	c.time(&j.Occurrence)
	c.time(&j.NextDue)
	number(c, &j.State)
	number(c, &j.Pending)
	number(c, &j.Epoch)
	c.name(&j.Owner)
	c.time(&j.Started)
	c.bool(&j.Suspect)
	c.bool(&j.Absent)
	c.bool(&j.HasParents)
	c.bool(&j.HasChildren)
	number(c, &j.Attempt)
	number(c, &j.Attempts)
	c.duration(&j.Timeout)
	number(c, &j.Runs)
	number(c, &j.Lost)
	c.text(&j.Error)
	c.name(&j.Label)
	c.body(bodyKey{id, true}, &j.Result)
	c.time(&j.Created)
	c.time(&j.Updated)
}

func (c *coder) run(k runKey, r *run) {
	r.Job, r.Seq = k.job, k.seq
	c.time(&r.Occurrence)
	number(c, &r.Attempt)
	number(c, &r.Epoch)
	c.name(&r.Node)
	c.time(&r.Started)
	c.time(&r.Finished)
	number(c, &r.Verdict)
	c.text(&r.Error)
	c.name(&r.Label)
	c.bytes(&r.output)
}

func (c *coder) step(k stepKey, s *step) {
	s.Name, s.Signal, s.Occasion = k.name, k.signal, time.UnixMicro(k.occasion).UTC()
	c.bytes(&s.Result)
	c.time(&s.At)
	number(c, &s.nth)
}

func (c *coder) runProgress(id store.ID, p *store.RunProgress) {
	p.Job = id
	number(c, &p.Epoch)
	number(c, &p.Done)
	number(c, &p.Total)
	c.text(&p.Note)
	c.time(&p.At)
}

func (c *coder) node(_ string, n *node) {
	c.time(&n.joined)
	c.bool(&n.drain)
}

func (c *coder) beat(_ string, b *beat) {
	c.time(&b.until)
	c.duration(&b.length)
}

func (c *coder) details(_ string, d *store.NodeDetails) {
	c.text(&d.Host)
	number(c, &d.PID)
	c.text(&d.Version)
	c.texts(&d.Kinds)
	number(c, &d.Workers)
	c.texts(&d.Queues)
}

func (c *coder) act(seq int64, a *store.Act) {
	a.Seq = seq
	c.time(&a.At)
	c.text(&a.Who)
	c.text(&a.Action)
	job := a.Job[:]
	if c.bytes(&job); len(job) == len(a.Job) {
		a.Job = store.ID(job)
	}
	c.text(&a.Key)
	c.text(&a.Reason)
	c.text(&a.Answer)
}

func (c *coder) counts(_ store.ID, p *store.ParentCounts) {
	number(c, &p.Total)
	number(c, &p.Succeeded)
	number(c, &p.Failed)
	number(c, &p.Need)
	c.bool(&p.Anyway)
}

func (c *coder) runKey(k *runKey) {
	c.id(&k.job)
	c.ordered(&k.seq)
}

func (c *coder) stepKey(k *stepKey) {
	c.id(&k.job)
	number(c, &k.occasion)
	c.bool(&k.signal)
	c.rest(&k.name)
}

func (c *coder) partition(p *partition) {
	number(c, &p.priority)
	c.text(&p.kind)
	c.rest(&p.name)
}

func (c *coder) edge(e *edge) {
	c.id(&e.from)
	number(c, &e.nth)
	c.id(&e.to)
}

func nothing[K any](*coder, K, *struct{}) {}

func number64[K any](c *coder, _ K, v *int64) { number(c, v) }
