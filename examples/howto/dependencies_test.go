package howto

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
)

// The page of an album comes after all pictures, and says how many are missing. Readers are told a day later.
func TestAlbumComesAfterItsPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t)
		a := newAlbums(jobs, func(_ context.Context, picture string) (string, error) {
			if picture == "broken" {
				return "", executor.Permanent(errors.New("no picture"))
			}
			time.Sleep(time.Minute)
			return "small " + picture, nil
		})
		told := make(chan time.Time, 1)
		mail := durable.Handle(jobs, "mail", func(context.Context, string) (bool, error) {
			told <- time.Now()
			return true, nil
		})
		durabletest.Start(t, jobs)
		added := time.Now()
		page, err := a.publish(t.Context(), "trip", []string{"sea", "broken", "hill"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := announce(t.Context(), mail, "trip", page); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		if tried, all, err := a.progress(t.Context(), page); tried != 1 || all != 3 || err != nil {
			t.Errorf("%d of %d were tried, %v; want 1 of 3", tried, all, err)
		}
		album, err := a.page.Await(t.Context(), page)
		if want := (Album{[]string{"small sea", "small hill"}, 1}); err != nil || !reflect.DeepEqual(album, want) {
			t.Errorf("got %+v, %v; want %+v", album, err, want)
		}
		if d := (<-told).Sub(added); d != 24*time.Hour {
			t.Errorf("readers were told after %v, want 24h", d)
		}
	})
}
