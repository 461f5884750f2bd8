package durable_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/memory"
)

// Chapters are counted in any order, by any nodes, and the book once all of them are: it reads their results.
func ExampleAfter() {
	jobs, err := durable.New(durable.Config{Store: memory.New()})
	if err != nil {
		log.Fatal(err)
	}
	chapter := durable.Handle(jobs, "chapter", func(ctx context.Context, text string) (int, error) {
		return len(text), nil
	})
	book := durable.Handle(jobs, "book", func(ctx context.Context, title string) (string, error) {
		sizes, err := durable.ParentResults[int](ctx)
		return fmt.Sprint(title, ": ", sizes), err
	})
	ctx, stop := context.WithCancel(context.Background())
	var node sync.WaitGroup
	node.Go(func() { jobs.Run(ctx) })
	defer node.Wait()
	defer stop()

	chapters, err := chapter.AddAll(ctx, 0, []string{"once upon", "a", "time"})
	if err != nil {
		log.Fatal(err)
	}
	id, err := book.Add(ctx, "a short one", durable.After(chapters...))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(book.Await(ctx, id))
	// Output: a short one: [9 1 4] <nil>
}
