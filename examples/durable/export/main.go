// Command export writes a table to a file each night at two, part after part, and shows how far it is. The program may
// be killed at any time: when it is started again, the export goes on with the part in which it was.
//
//	go run ./examples/durable/export -night 2026-11-27 -crash 1s   # exits without cleanup, as after kill -9
//	go run ./examples/durable/export -night 2026-11-27             # goes on, and ends with export-2026-11-27.csv
//	go run ./examples/durable/export                               # each night, until it is interrupted
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/executor-go/executor/cron"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/examples/durable/internal/world"
)

// rows is how many rows a part has.
const rows = 500

func main() {
	dir := flag.String("dir", ".", "the `directory` to export to")
	parts := flag.Int("parts", 20, "how many parts of 500 rows the table has")
	takes := flag.Duration("takes", 100*time.Millisecond, "how long it takes to read a part")
	night := flag.String("night", "", "export that `date` now, once, and exit")
	world.Main("export", func(ctx context.Context, store durable.Store, outside *world.Ledger) error {
		return run(ctx, store, exporter{*dir, *parts, *takes, outside}, *night)
	})
}

func run(ctx context.Context, store durable.Store, e exporter, night string) error {
	jobs, err := durable.New(durable.Config{Store: store, Lease: time.Second})
	if err != nil {
		return err
	}
	exports := durable.Handle(jobs, "export", e.export)
	if night == "" {
		if err := eachNight(ctx, exports); err != nil {
			return err
		}
		return jobs.Run(ctx)
	}

	id, err := exports.Add(ctx, night, durable.Key("export/"+night)) // safe to repeat
	if err != nil {
		return err
	}
	defer world.Start(ctx, jobs)()
	go show(ctx, jobs, id)
	file, err := exports.Await(ctx, id)
	if err == nil {
		fmt.Println(file, "is complete")
	}
	return err
}

// show prints how far the export is.
func show(ctx context.Context, jobs *durable.Jobs, id durable.ID) {
	for tick := time.Tick(200 * time.Millisecond); ctx.Err() == nil; <-tick {
		progress, err := jobs.Progress(ctx, id)
		if p := progress[id]; err == nil && p.Total > 0 {
			fmt.Printf("%d of %d rows: %s\n", p.Done, p.Total, p.Note)
		}
	}
}

// An exporter exports a table of so many parts, each of which takes some time to read.
type exporter struct {
	dir     string
	parts   int
	takes   time.Duration
	outside *world.Ledger
}

// eachNight has the handler called each night.
func eachNight(ctx context.Context, exports *durable.Kind[string, string]) error {
	_, err := exports.On(ctx, "export/nightly", cron.MustParse("CRON_TZ=UTC 0 2 * * *"), "")
	return err
}

// export is the handler. It returns the name of the file.
func (e exporter) export(ctx context.Context, night string) (file string, err error) {
	job, _ := durable.Current(ctx)
	if night == "" {
		night = job.Occurrence.UTC().Format(time.DateOnly)
	}
	file = filepath.Join(e.dir, "export-"+night+".csv")
	var end int64 // of what is written, as the last step has kept it
	for part := range e.parts {
		durable.Progress(ctx, int64(part*rows), int64(e.parts*rows), fmt.Sprintf("part %d of %d", part+1, e.parts))
		end, err = durable.Step(ctx, fmt.Sprint("part-", part+1), func(ctx context.Context) (int64, error) {
			return e.write(ctx, job.Key, file+".part", part, end)
		})
		if err != nil {
			return "", err
		}
	}
	return durable.Step(ctx, "publish", func(context.Context) (string, error) {
		fmt.Println(file, "is published")
		if _, err := e.outside.Do("publish", job.Key, "-"); err != nil {
			return "", err
		}
		err := os.Rename(file+".part", file)
		if _, there := os.Stat(file); os.IsNotExist(err) && there == nil {
			err = nil // the program died before this was kept
		}
		return file, err
	})
}

// write writes a part to the file from an offset on, over what an attempt has left there that died, and returns where
// it ends.
func (e exporter) write(ctx context.Context, key, file string, part int, offset int64) (end int64, err error) {
	fmt.Printf("part %d\n", part+1)
	select {
	case <-time.After(e.takes):
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	var text bytes.Buffer
	for row := part * rows; row < (part+1)*rows; row++ {
		fmt.Fprintf(&text, "%d,%d\n", row+1, (row+1)*(row+1))
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = f.WriteAt(text.Bytes(), offset)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	_, err = e.outside.Do(fmt.Sprint("part-", part+1), key, fmt.Sprint(offset))
	return offset + int64(text.Len()), err
}
