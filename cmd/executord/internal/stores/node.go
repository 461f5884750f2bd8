package stores

import (
	"context"

	"github.com/executor-go/executor/cmd/executord/internal/nodelock"
	"github.com/executor-go/executor/durable"
)

// OpenForNode is Open for a daemon. In a file, nodes whose processes were killed do not keep what they held until their
// leases end: dead has their names.
func OpenForNode(name string, o Options) (store durable.Store, shown string, dead []string, err error) {
	if store, shown, err = Open(name, o); err != nil || IsDatabase(name) {
		return store, shown, nil, err
	}
	locked := nodelock.New(store, name)
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if dead, err = locked.Bury(ctx); err != nil {
		locked.Close()
		return nil, shown, nil, Explain(shown, err)
	}
	return locked, shown, dead, nil
}
