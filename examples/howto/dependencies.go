package howto

import (
	"context"
	"time"

	"github.com/executor-go/executor/durable"
)

// Album is the page of an album.
type Album struct {
	Small   []string // names of small pictures
	Missing int      // pictures of which none could be made
}

// albums makes small pictures, and the page of an album when each picture was tried.
type albums struct {
	jobs  *durable.Jobs
	small *durable.Kind[string, string] // from the name of a picture to that of a small one
	page  *durable.Kind[string, Album]
}

// newAlbums sets the handlers of both kinds.
func newAlbums(jobs *durable.Jobs, shrink func(ctx context.Context, picture string) (string, error)) albums {
	page := func(ctx context.Context, name string) (album Album, err error) {
		counts, err := durable.CountParents(ctx)
		if err != nil {
			return album, err
		}
		album.Missing = counts.Failed
		album.Small, err = durable.ParentResults[string](ctx) // of those that succeeded, in the order of After
		return album, err
	}
	return albums{jobs, durable.Handle(jobs, "small", shrink), durable.Handle(jobs, "page", page)}
}

// publish adds all jobs of an album, or none. It returns the ID of the job that makes the page.
func (a albums) publish(ctx context.Context, name string, pictures []string) (durable.ID, error) {
	var batch []durable.Prepared
	var ids []durable.ID
	for _, picture := range pictures {
		job := a.small.Prepare(0, picture, durable.Attempts(3))
		batch, ids = append(batch, job), append(ids, job.ID())
	}
	page := a.page.Prepare(0, name, durable.After(ids...), durable.EvenIfFailed())
	if _, err := a.jobs.Add(ctx, append(batch, page)...); err != nil {
		return durable.ID{}, err
	}
	return page.ID(), nil
}

// progress returns how many pictures of a page were tried, and how many there are.
func (a albums) progress(ctx context.Context, page durable.ID) (tried, all int, err error) {
	counts, err := a.jobs.CountParents(ctx, page)
	return counts.Succeeded + counts.Failed, counts.Total, err
}

// announce adds a job that tells readers about the page a day later. If the page fails, the job is canceled.
func announce(ctx context.Context, mail *durable.Kind[string, bool], name string, page durable.ID) (durable.ID, error) {
	return mail.AddAfter(ctx, 24*time.Hour, name, durable.After(page))
}
