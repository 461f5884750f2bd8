package rows

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/executor-go/executor/durable/store"
)

// A sorted set has what a slice has that is kept in order, whatever is added and removed.
func TestSortedHasWhatWasAdded(t *testing.T) {
	for _, most := range []int{1, 10, 3 * chunk, 20 * chunk} {
		s := sorted[int]{compare: cmp.Compare[int]}
		var want []int
		for n := range 6 * most {
			v := rand.IntN(most)
			if n < most && most > 10 {
				v = n // in order, first
			}
			i, there := slices.BinarySearch(want, v)
			switch add := rand.IntN(3) > 0 == (n < 3*most); {
			case add:
				if s.add(v); !there {
					want = slices.Insert(want, i, v)
				}
			default:
				if s.remove(v); there {
					want = slices.Delete(want, i, i+1)
				}
			}
			if n%max(1, most/10) == 0 {
				from := rand.IntN(most)
				i, _ := slices.BinarySearch(want, from)
				if got := slices.Collect(s.from(from)); !slices.Equal(got, want[i:]) || s.len() != len(want) {
					t.Fatalf("of %d, it has %d from %d on, %v, want %v", most, s.len(), from, got, want[i:])
				}
				before, all := slices.Collect(s.back(&from)), slices.Collect(s.back(nil))
				slices.Reverse(before)
				slices.Reverse(all)
				if !slices.Equal(before, want[:i]) || !slices.Equal(all, want) {
					t.Fatalf("of %d, it has %v before %d and %v in all, want %v of %v", most, before, from, all, want[:i], want)
				}
			}
		}
	}
}

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// write commits what fn writes.
func (r *Rows) write(t *testing.T, fn func(t *Tx)) {
	t.Helper()
	tx := r.Begin(noon, 0)
	if fn(tx); !r.Commit(tx) {
		t.Fatal("it was not committed")
	}
}

// A transaction that writes is committed only if each row that it has read is as it was: changed, added and removed rows
// count, and so do those that it has put or removed itself; those that it has looked at do not.
func TestCommitIsOfWhatWasRead(t *testing.T) {
	reads := map[string]func(t *Tx, kind string){
		"get":  func(t *Tx, kind string) { t.buckets.get(kind) },
		"put":  func(t *Tx, kind string) { t.buckets.put(kind, noon) },
		"del":  func(t *Tx, kind string) { t.buckets.del(kind) },
		"look": func(t *Tx, kind string) { t.buckets.look(kind) },
		"scan": func(t *Tx, kind string) {
			for range t.buckets.scan {
			}
		},
	}
	changes := map[string]func(t *Tx){
		"change": func(t *Tx) { t.buckets.put("there", noon.Add(time.Hour)) },
		"remove": func(t *Tx) { t.buckets.del("there") },
		"add":    func(t *Tx) { t.buckets.put("none", noon) },
		"other":  func(t *Tx) { t.buckets.put("other", noon) },
	}
	for read, by := range reads {
		for change, of := range changes {
			for _, kind := range []string{"there", "none"} {
				r := New()
				r.write(t, func(t *Tx) { t.buckets.put("there", noon) })
				tx := r.Begin(noon, 0)
				by(tx, kind)
				tx.paused.put("written", struct{}{})
				r.write(t, of)
				noted := read == "get" || read == "put" || read == "del" && kind == "there"
				changed := kind == "there" && (change == "change" || change == "remove") || kind == "none" && change == "add"
				if done := r.Commit(tx); done == (noted && changed) {
					t.Errorf("%s of %q, and meanwhile a %s: committed is %v", read, kind, change, done)
				}
				if left := r.paused.rows["written"] != nil; left != !(noted && changed) {
					t.Errorf("%s of %q, and meanwhile a %s: what it wrote is there: %v", read, kind, change, left)
				}
			}
		}
	}
}

// add adds n jobs that are due.
func (r *Rows) add(t *testing.T, n int) []store.NewJob {
	t.Helper()
	jobs := make([]store.NewJob, n)
	for i := range jobs {
		jobs[i] = store.NewJob{ID: store.NewID(), Kind: "k", Schedule: store.Once, Attempts: 1}
	}
	r.write(t, func(t *Tx) { t.insert(jobs, store.Placement{}) })
	return jobs
}

// Nodes that claim the first jobs at the same time are in each other's way; when they have met twice, they divide the
// jobs, and none waits for another. A node with too few jobs in its share takes others.
func TestClaimsThatMeetDivideTheJobs(t *testing.T) {
	for _, n := range []int{1000, 30} {
		for try := range 3 {
			r := New()
			r.add(t, n)
			for i := range 3 {
				r.write(t, func(t *Tx) { t.nodes.put(fmt.Sprint("n", i), node{}) })
			}
			var claims []*Tx
			for i := range 3 {
				tx := r.Begin(noon, try)
				c := tx.claim("", store.ClaimRequest{Node: fmt.Sprint("n", i), Limit: 30, Kinds: []store.KindLimit{{Kind: "k", Max: 30}}})
				if len(c.Jobs) != 30 {
					t.Errorf("try %d: claimed %d of %d", try, len(c.Jobs), n)
				}
				claims = append(claims, tx)
			}
			committed := 0
			for _, tx := range claims {
				if r.Commit(tx) {
					committed++
				}
			}
			want := 1
			if try == 2 && n == 1000 {
				want = 3
			}
			if committed != want {
				t.Errorf("try %d of %d jobs: %d were committed, want %d", try, n, committed, want)
			}
		}
	}
}

// However many jobs of however many partitions wait, a claim writes few rows, gets what it may, and those that come after
// put the rest in line.
func TestClaimsPutManyInLine(t *testing.T) {
	r := New()
	r.write(t, func(t *Tx) { t.nodes.put("n", node{}) })
	jobs := make([]store.NewJob, 2*mostLined+10)
	for i := range jobs {
		jobs[i] = store.NewJob{ID: store.NewID(), Kind: "k", Schedule: store.Once, Attempts: 1, Partition: fmt.Sprint("p", i)}
	}
	r.write(t, func(t *Tx) { t.insert(jobs, store.Placement{}) })
	claim := func() (c store.ClaimResult) {
		tx := r.Begin(noon, 0)
		c = tx.claimLimited("", store.ClaimRequest{Node: "n", Limit: 5, Kinds: []store.KindLimit{{Kind: "k", Max: 5, PerPartition: 1}}})
		writes := 0
		for range tx.Writes() {
			writes++
		}
		if writes > 3*mostLined {
			t.Errorf("a claim writes %d rows", writes)
		}
		if !r.Commit(tx) {
			t.Fatal("it was not committed")
		}
		return c
	}
	for range 3 {
		if c := claim(); len(c.Jobs) != 5 {
			t.Errorf("claimed %d jobs, want 5", len(c.Jobs))
		}
	}
	if len(r.lined.rows) < len(jobs)-10 {
		t.Errorf("%d of %d are in line", len(r.lined.rows), len(jobs))
	}
	r.write(t, func(t *Tx) {
		for i := range jobs {
			if j := t.jobs.look(jobs[i].ID); j.State == store.Waiting {
				t.remove(j)
			}
		}
	})
	for range 3 {
		claim()
	}
	if left := len(r.places.rows); left > 15 {
		t.Errorf("%d places are left of partitions without jobs", left)
	}
}

// A report of a run whose job was removed leaves nothing behind.
func TestReportOfRemovedJobIsForgotten(t *testing.T) {
	r := New()
	job := r.add(t, 1)[0].ID
	s := NewStore(homeOf{t, r})
	report := store.Report{Progress: []store.RunProgress{{Job: job, Epoch: 1, Done: 1}}}
	for _, want := range []int{1, 0} {
		if err := s.Report(t.Context(), "n", report); err != nil {
			t.Fatal(err)
		}
		if n := len(r.progress.rows); n != want {
			t.Errorf("there are %d reports, want %d", n, want)
		}
		r.write(t, func(t *Tx) { t.change(job, store.Change{Op: store.OpDelete}) })
	}
}

// homeOf is a home of rows that one goroutine uses.
type homeOf struct {
	t *testing.T
	*Rows
}

func (h homeOf) Transact(_ context.Context, decide func(*Tx) error) (err error) {
	h.write(h.t, func(t *Tx) { err = decide(t) })
	return err
}

// A history that is to have fewer runs than before loses some with each run, until it has as many.
func TestHistoryIsTrimmedInParts(t *testing.T) {
	r := New()
	job := r.add(t, 1)[0].ID
	ran := func(seq int64, keep int) {
		r.write(t, func(t *Tx) { t.record(run{Run: store.Run{Job: job, Seq: seq}}, keep) })
	}
	const many = 3 * mostTrimmed
	for seq := range int64(many) {
		ran(seq+1, many)
	}
	for n := range int64(4) {
		ran(many+n+1, 10)
		if got, want := r.seqs(job).len(), max(10, many-int(n+1)*(mostTrimmed-1)); got != want {
			t.Errorf("%d runs are left, want %d", got, want)
		}
	}
}

// The end of a job with very many children is told to some of them, and to the others by the heartbeats that come next.
func TestManyChildrenAreToldInParts(t *testing.T) {
	for state, want := range map[store.State]store.State{store.Succeeded: store.Waiting, store.Dead: store.Canceled} {
		r := New()
		parent := r.add(t, 1)[0].ID
		children := make([]store.NewJob, 2*mostTold+10)
		for i := range children {
			children[i] = store.NewJob{ID: store.NewID(), Kind: "child", Schedule: store.Once, Attempts: 1, After: store.After{Parents: []store.ID{parent}, Need: 1}}
		}
		r.write(t, func(t *Tx) {
			t.insert(children, store.Placement{})
			t.nodes.put("n", node{})
		})
		r.write(t, func(t *Tx) {
			t.claim("", store.ClaimRequest{Node: "n", Limit: 1, Kinds: []store.KindLimit{{Kind: "k", Max: 1}}})
		})
		told := func(of int, do func(t *Tx)) {
			t.Helper()
			writes := 0
			r.write(t, func(t *Tx) {
				do(t)
				for range t.Writes() {
					writes++
				}
			})
			n := 0
			for _, j := range r.jobs.rows {
				if j.value.Kind == "child" && j.value.State == want {
					n++
				}
			}
			if n != of || writes > 4*mostTold {
				t.Errorf("%v: %d children are told, want %d; %d rows are written", state, n, of, writes)
			}
		}
		told(mostTold, func(t *Tx) {
			o := store.Outcome{Ref: store.Ref{ID: parent, Epoch: t.jobs.look(parent).Epoch}, State: state}
			t.commit(&store.CommitRequest{Node: "n", Outcomes: []store.Outcome{o}})
		})
		reap := func(t *Tx) { t.reap() }
		told(2*mostTold, reap)
		told(len(children), reap)
		if len(r.untold)+len(r.late) > 0 {
			t.Errorf("%d jobs are not told of, and %d late", len(r.untold), len(r.late))
		}
	}
}

// A claim that gets nothing, a heartbeat of others and a look write no row.
func TestLooksWriteNothing(t *testing.T) {
	r := New()
	r.write(t, func(t *Tx) { t.nodes.put("n", node{}) })
	version := r.version
	r.write(t, func(t *Tx) {
		r := store.ClaimRequest{Node: "n", Limit: 9, Kinds: []store.KindLimit{{Kind: "k", Max: 9, Global: 1, PerPartition: 1, Rate: store.Rate{Every: 1e9, Burst: 1}}}}
		t.claim("", r)
		t.claimLimited("", r)
		t.reap()
		t.due(&store.Watch{Kinds: []string{"k"}})
		t.export()
	})
	if r.version != version {
		t.Error("they have written")
	}
}

// The indexes have what the rows have, whatever was done.
func TestIndexesFitTheRows(t *testing.T) {
	r := New()
	r.write(t, func(t *Tx) { t.nodes.put("n", node{}) })
	var ids []store.ID
	for range 300 {
		r.write(t, func(t *Tx) {
			switch rand.IntN(5) {
			case 0:
				n := store.NewJob{ID: store.NewID(), Kind: fmt.Sprint("k", rand.IntN(2)), Schedule: store.Once, Attempts: 2, Priority: store.Priority(rand.IntN(3) - 1)}
				if len(ids) > 0 && rand.IntN(2) == 0 {
					if id := ids[rand.IntN(len(ids))]; t.jobs.look(id) != nil {
						n.After = store.After{Parents: []store.ID{id}, Need: 1}
					}
				}
				t.insert([]store.NewJob{n}, store.Placement{})
				ids = append(ids, n.ID)
			case 1:
				t.claim("", store.ClaimRequest{Node: "n", Limit: 2, Kinds: []store.KindLimit{{Kind: "k0", Max: 1}, {Kind: "k1", Max: 1}}})
			case 2:
				b := store.CommitRequest{Node: "n", History: 3}
				for j := range t.allHeld {
					o := store.Outcome{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}, State: []store.State{store.Waiting, store.Succeeded, store.Dead}[rand.IntN(3)], Due: noon}
					b.Outcomes = append(b.Outcomes, o)
				}
				t.commit(&b)
			case 3:
				t.release("n", nil)
			case 4:
				if len(ids) > 0 {
					if j := t.jobs.look(ids[rand.IntN(len(ids))]); j != nil && !j.State.Held() {
						t.remove(j)
						t.tell(j.ID)
					}
				}
			}
		})
		var waiting, held, runs int
		for _, of := range r.waiting {
			waiting += of.len()
		}
		for _, of := range r.held {
			held += len(of)
		}
		for _, of := range r.history {
			runs += of.len()
		}
		for id, j := range r.jobs.rows {
			switch j := j.value; {
			case j.State == store.Waiting:
				if _, _, there := r.waiting[lineOf(&j)].find(placeOf(&j)); !there {
					t.Fatalf("job %v waits, and is not in line", id)
				}
				waiting--
			case j.State.Held():
				if !r.held[j.Owner][id] {
					t.Fatalf("job %v is held, and its owner does not have it", id)
				}
				held--
			}
		}
		for k := range r.runs.rows {
			if _, _, there := r.seqs(k.job).find(k.seq); !there {
				t.Fatalf("run %v is not in the history", k)
			}
			runs--
		}
		untold, late := make(map[store.ID]int), make(map[store.ID]bool)
		for e, s := range r.parents.rows {
			if !s.value.Done() {
				untold[e.to]++
				if j := r.jobs.rows[e.to]; j == nil || j.value.State.Done() {
					late[e.to] = true
				}
			}
		}
		if !maps.Equal(untold, r.untold) || !maps.Equal(late, r.late) {
			t.Fatalf("untold are %v and late %v, want %v and %v", r.untold, r.late, untold, late)
		}
		edges := 0
		for child, of := range r.parents.groups {
			for e := range of {
				if edges++; e.from != child || !r.children.groups[e.to][edge{e.to, e.nth, child}] {
					t.Fatalf("edge %v is wrong", e)
				}
			}
		}
		if waiting != 0 || held != 0 || runs != 0 || r.ids.len() != len(r.jobs.rows) || len(r.keys.rows) != 0 || edges != len(r.children.rows) || edges != len(r.parents.rows) {
			t.Fatalf("too many are in an index: %d wait, %d are held, %d runs; %d of %d jobs; %d edges, %d and %d",
				waiting, held, runs, r.ids.len(), len(r.jobs.rows), edges, len(r.children.rows), len(r.parents.rows))
		}
	}
}
