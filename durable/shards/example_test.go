package shards_test

import (
	"context"
	"fmt"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
	"github.com/executor-go/executor/durable/shards"
	"github.com/executor-go/executor/durable/store"
)

func Example() {
	ctx, stop := context.WithCancel(context.Background())
	all, err := shards.New(shards.Config{Stores: map[string]store.Store{ // postgres.Open returns such stores
		"db1": memory.New(), "db2": memory.New(), "db3": memory.New(),
	}})
	if err != nil {
		panic(err)
	}
	mail := shards.Handle(all, "mail", func(_ context.Context, to string) (string, error) { return "sent to " + to, nil })
	ended := make(chan error)
	go func() { ended <- all.Run(ctx) }()

	id, err := mail.Add(ctx, "ada@example.com", durable.Key("welcome ada"))
	if err != nil {
		panic(err)
	}
	fmt.Println(mail.Await(ctx, id))
	stop()
	fmt.Println(<-ended)
	// Output:
	// sent to ada@example.com <nil>
	// <nil>
}
