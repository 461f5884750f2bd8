package howto

import (
	"context"
	"os"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/transfer"
)

// moveStore moves all jobs from one store to another through a file, which is kept as a backup. The other store must be
// empty, and no program may use either.
func moveStore(ctx context.Context, from, to durable.Store, path string) (transfer.Summary, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return transfer.Summary{}, err
	}
	defer f.Close()
	if _, err := transfer.Export(ctx, from, f); err != nil {
		return transfer.Summary{}, err
	}
	if err := f.Sync(); err != nil {
		return transfer.Summary{}, err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return transfer.Summary{}, err
	}
	return transfer.Import(ctx, to, f)
}
