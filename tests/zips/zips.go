// Zips makes the zip of each published module as the go command would, and uses
// them as others do: it runs the tests of each from its zip, against the zips of
// the others, adds the libraries to a new module, and installs the daemon.
// Then it vets each module with the next version of the others, in which all internal
// packages have changed.
//
//	go run ./tests/zips              all
//	go run ./tests/zips -vet         without the tests, which are vetted
//	go run ./tests/zips -next        only the last part: the others are in a release, which tests/release makes
//	go run ./tests/zips -published   the same with the versions that are published
//
// The zips have what git has or would add, so changes need not be committed. A module proxy
// in a directory serves them; third parties come from the usual one.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/executor-go/executor/tests/internal/site"
)

func main() {
	vet := flag.Bool("vet", false, "vet the modules, and do not run their tests")
	next := flag.Bool("next", false, "vet each module with the next version of the others, and do nothing else")
	public := flag.Bool("published", false, "take the modules from where they are published, not from this tree")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *vet, *next, *public); err != nil {
		fmt.Fprintf(os.Stderr, "zips: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, vet, next, public bool) error {
	if err := site.Unlisted("."); err != nil {
		return err
	}
	mods, err := site.Modules(".")
	if err != nil {
		return err
	}
	s, err := site.New(ctx)
	if err != nil {
		return err
	}
	if !public {
		for _, m := range mods {
			if err := s.Publish(m); err != nil {
				return fmt.Errorf("%s: %w", m.Path, err)
			}
		}
		s.Serve()
	}
	if next {
		return s.Upgrade(mods)
	}
	for _, m := range mods {
		fmt.Printf("%s@%s\n", m.Path, m.Version.Version)
		if err := s.Test(m, vet); err != nil {
			return fmt.Errorf("%s fails from its zip: %w", m.Path, err)
		}
	}
	if err := s.Use(mods); err != nil {
		return fmt.Errorf("using the libraries in a new module: %w", err)
	}
	if err := s.Install(mods[len(mods)-1]); err != nil {
		return fmt.Errorf("installing the daemon: %w", err)
	}
	if public {
		return nil
	}
	fmt.Println("each module with the next version of the others")
	return s.Upgrade(mods)
}
