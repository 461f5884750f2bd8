// Tutorial-durable is the program of docs/tutorials/durable.md: an HTTP service that sends mail by durable jobs.
//
//	go run ./examples/tutorial-durable
//	curl -d to=ann@example.org http://127.0.0.1:8080/signup
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/sqlite"
	"github.com/executor-go/executor/ui"
)

// Mail is the payload of a job, and Receipt its result. The store has both as JSON.
type Mail struct{ To string }

type Receipt struct{ Sent time.Time }

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "the `address` of the service")
	db := flag.String("db", "mail.db", "the `file` with the jobs")
	takes := flag.Duration("takes", 5*time.Second, "how long a mail takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *listen, *db, *takes); err != nil {
		log.Fatal(err)
	}
}

// run serves and runs jobs until ctx ends.
func run(ctx context.Context, address, db string, takes time.Duration) error {
	store, err := sqlite.Open(db)
	if err != nil {
		return err
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		return err
	}
	mails := durable.Handle(jobs, "mail", send(takes), durable.WithBackoff(executor.Backoff(2*time.Second, time.Minute)))

	pages, err := ui.New(ui.Config{Jobs: []ui.Source{{Jobs: jobs}}, Payloads: true})
	if err != nil {
		return err
	}
	defer pages.Close()
	mux := http.NewServeMux()
	mux.Handle("POST /signup", signup(mails))
	mux.Handle("/executor/", pages)

	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	log.Printf("http://%s/executor/", listener.Addr())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	ctx, end := context.WithCancel(ctx)
	defer end()
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(listener)
		end() // without a server the program is of no use
	}()

	err = jobs.Run(ctx) // until ctx ends, and the handlers that run have returned
	grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err = errors.Join(err, server.Shutdown(grace))
	if failed := <-served; failed != http.ErrServerClosed {
		err = errors.Join(err, failed)
	}
	return err
}

// signup adds a job, once for each address.
func signup(mails *durable.Kind[Mail, Receipt]) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		to := r.FormValue("to")
		id, err := mails.Add(r.Context(), Mail{To: to}, durable.Key("welcome/"+to))
		if err != nil {
			http.Error(w, "it was not stored; try again later", http.StatusServiceUnavailable)
			log.Print(err)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintln(w, id)
	}
}

// send returns the handler of the jobs. It pretends: it only takes the time that a mail server would take.
func send(takes time.Duration) func(context.Context, Mail) (Receipt, error) {
	return func(ctx context.Context, m Mail) (Receipt, error) {
		job, _ := durable.Current(ctx)
		log.Printf("%s: attempt %d", m.To, job.Attempt)
		if !strings.Contains(m.To, "@") {
			return Receipt{}, executor.Permanent(fmt.Errorf("%q is not an address", m.To))
		}
		if strings.HasSuffix(m.To, "@busy.example") && job.Attempt < 3 {
			return Receipt{}, errors.New("the server is busy")
		}
		fmt.Fprintln(durable.Output(ctx), "the server has answered") // on the page of the job
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return Receipt{}, context.Cause(ctx)
		}
		log.Printf("%s: sent", m.To)
		return Receipt{Sent: time.Now()}, nil
	}
}
