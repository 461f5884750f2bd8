package storetest

import (
	"slices"
	"time"

	"github.com/executor-go/executor/durable"
)

// Acts are kept as they were noted, with times of the store, and are read the latest first: all, or those of a job,
// page by page. A job need not be there.
func acts(b *bench) {
	jobs := []durable.ID{durable.NewID(), durable.NewID(), {}}
	begin := must(b.store.Now(b.Context()))
	var noted []durable.Act
	for i := range 30 {
		a := durable.Act{
			Who: "ops' \\\u00e9", Action: "cancel", Job: jobs[i%len(jobs)], Key: "k\u00e9y", Reason: "", Answer: "applied",
		}
		b.ok(b.store.NoteAct(b.Context(), a))
		noted = append(noted, a)
	}
	end := must(b.store.Now(b.Context()))
	slices.Reverse(noted)
	all := must(b.store.Acts(b.Context(), durable.ActFilter{Limit: 100}))
	if len(all) != len(noted) {
		b.Fatalf("%d acts, want %d", len(all), len(noted))
	}
	for i, a := range all {
		if a.At.Before(begin.Add(-time.Microsecond)) || a.At.After(end) || i > 0 && a.Seq >= all[i-1].Seq || a.Seq < 1 {
			b.Errorf("act %d: number %d at %v", i, a.Seq, a.At)
		}
		a.Seq, a.At = 0, time.Time{}
		if a != noted[i] {
			b.Errorf("act %d: %+v, want %+v", i, a, noted[i])
		}
	}
	for _, id := range jobs[:2] {
		var pages []durable.Act
		for f := (durable.ActFilter{Job: id, Limit: 3}); ; f.Before = pages[len(pages)-1].Seq {
			page := must(b.store.Acts(b.Context(), f))
			if pages = append(pages, page...); len(page) < f.Limit {
				break
			}
		}
		want := slices.DeleteFunc(slices.Clone(all), func(a durable.Act) bool { return a.Job != id })
		if !slices.Equal(pages, want) {
			b.Errorf("of a job: %v, want %v", pages, want)
		}
	}
}
