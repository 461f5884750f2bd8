package anystore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/ui"
)

// serve is the command that shows a store in a browser.
func (h Host) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show the store in a browser of this machine",
		Long: strings.TrimSpace(`
serve answers with pages of the jobs, their runs and the nodes, until SIGINT or
SIGTERM. The pages change nothing. Only users of this machine can look; from another
machine use ssh -L.`),
		Example: "  executord store serve --store jobs.db --listen 127.0.0.1:8385",
		Args:    complaint.NoArguments,
	}
	open := h.Flag(cmd)
	listen := cmd.Flags().String("listen", "127.0.0.1:8385", "the address, of this machine")
	payloads := cmd.Flags().Bool("payloads", false, "show payloads and results, which may be secret")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := local(*listen); err != nil {
			return err
		}
		return h.visit(cmd, open, false, 0, func(ctx context.Context, c client) error {
			ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			l, err := net.Listen("tcp", *listen)
			if err != nil {
				return mistake("%v", err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "listening at http://%s/\n", l.Addr())
			return serve(ctx, l, c.jobs, c.shown, *payloads)
		})
	}
	return cmd
}

// local returns an error unless an address is one that only this machine reaches.
func local(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen %q: it must be an address with a port, as 127.0.0.1:8385", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen %s: it must be an address of this machine alone, as 127.0.0.1:8385", address)
	}
	return nil
}

// closing is how long answers that are under way may take when serve ends.
const closing = 5 * time.Second

// serve answers with the pages until ctx ends.
func serve(ctx context.Context, l net.Listener, jobs *durable.Jobs, shown string, payloads bool) error {
	pages, err := ui.New(ui.Config{Jobs: []ui.Source{{Jobs: jobs}}, Payloads: payloads, Title: shown})
	if err != nil {
		return err
	}
	defer pages.Close()
	server := &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		pages.Close() // live updates would keep it from ending
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		server.Shutdown(bounded)
	})
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return mistake("%v", err)
	}
	<-ended
	return nil
}
