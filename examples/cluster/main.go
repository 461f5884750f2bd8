// Command cluster runs jobs on three members of a cluster, each a process of its own on this machine. While the jobs are
// run it kills one of them, as a machine is lost, and the others go on; later it starts that one again.
//
//	go run ./examples/cluster
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/etcd"
)

func main() {
	n := flag.Int("n", 60, "how many jobs")
	peers := flag.String("peers", "", "the members, of a process that is one")
	self := flag.String("self", "", "which of them it is")
	dir := flag.String("dir", "", "the directory of its data")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := error(nil)
	if *self != "" {
		err = member(ctx, strings.Split(*peers, ","), *self, *dir)
	} else {
		err = demonstrate(ctx, *n, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// member runs jobs as a member of the cluster, until its standard input ends.
func member(ctx context.Context, peers []string, self, dir string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // ends with the process that has started this one, if not before
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	quiet := slog.New(slog.DiscardHandler)
	store, err := etcd.Join(ctx, etcd.Member{Peers: peers, Self: self, Dir: dir, Logger: quiet})
	if err != nil {
		return err
	}
	defer store.Close()
	jobs, err := durable.New(durable.Config{Store: store, Lease: time.Second, Logger: quiet})
	if err != nil {
		return err
	}
	durable.Handle(jobs, "count", func(_ context.Context, n int) (int, error) {
		_, err := fmt.Println("job", n)
		return n, err
	})
	return jobs.Run(ctx)
}

// A machine is a process with a member.
type machine struct {
	name  string
	cmd   *exec.Cmd
	alive io.Closer     // its standard input
	read  chan struct{} // closed when all it has written was passed on
}

// start starts a machine. What it writes is passed on, with its name.
func start(name string, args []string, lines chan<- [2]string) (*machine, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	m := &machine{name: name, cmd: exec.Command(program, args...), read: make(chan struct{})}
	m.cmd.Stderr = os.Stderr
	in, err := m.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	m.alive = in
	go func() {
		defer close(m.read)
		for text := bufio.NewScanner(out); text.Scan(); {
			lines <- [2]string{name, text.Text()}
		}
	}()
	return m, nil
}

// end waits until the machine has ended.
func (m *machine) end() error {
	m.alive.Close()
	<-m.read
	return m.cmd.Wait()
}

// demonstrate runs n jobs on three machines, and kills one of them meanwhile.
func demonstrate(ctx context.Context, n int, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "cluster")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	peers, err := freeAddresses(3)
	if err != nil {
		return err
	}
	lines := make(chan [2]string, 4*n) // has room for all that is written, as what a killed machine ran is run again
	var machines [3]*machine
	begin := func(i int) (err error) {
		machines[i], err = start(fmt.Sprint("machine ", i+1), []string{
			"-peers", strings.Join(peers, ","), "-self", peers[i], "-dir", filepath.Join(dir, fmt.Sprint(i+1)),
		}, lines)
		return err
	}
	defer func() {
		for _, m := range machines { // all at once: the last one that is left can commit nothing
			if m != nil {
				m.alive.Close()
			}
		}
		for _, m := range machines {
			if m != nil {
				err = errors.Join(err, m.end())
			}
		}
	}()
	for i := range machines {
		if err := begin(i); err != nil {
			return err
		}
	}
	ids, kind, hangUp, err := add(ctx, peers, n)
	if err != nil {
		return err
	}
	defer hangUp()

	lost, ran := -1, make(map[string]bool) // the machine that was killed, and the jobs that were run
	for len(ran) < n {
		var line [2]string
		select {
		case line = <-lines:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		fmt.Fprintf(out, "%s: %s\n", line[0], line[1])
		switch ran[line[1]] = true; {
		case len(ran) == n/3 && lost < 0:
			for i, m := range machines {
				if m.name == line[0] {
					lost = i
				}
			}
			if err := machines[lost].cmd.Process.Kill(); err != nil {
				return err
			}
			machines[lost].end() // its error says that it was killed
			machines[lost] = nil
			fmt.Fprintf(out, "-- %s is lost\n", line[0])
		case len(ran) == 2*n/3 && lost >= 0 && machines[lost] == nil:
			if err := begin(lost); err != nil {
				return err
			}
			fmt.Fprintf(out, "-- machine %d is back\n", lost+1)
		}
	}
	for _, id := range ids {
		if _, err := kind.Await(ctx, id); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "all %d jobs are done\n", n)
	return err
}

// add adds n jobs, one due each 100 ms, as a program that is no member.
func add(ctx context.Context, peers []string, n int) (ids []durable.ID, kind *durable.Kind[int, int], hangUp func() error, err error) {
	quiet := slog.New(slog.DiscardHandler)
	store, err := etcd.Dial(ctx, etcd.Client{Endpoints: peers, Logger: quiet})
	if err != nil {
		return nil, nil, nil, err
	}
	jobs, err := durable.New(durable.Config{Store: store, Logger: quiet})
	if err != nil {
		return nil, nil, nil, errors.Join(err, store.Close())
	}
	kind = durable.KindOf[int, int](jobs, "count")
	for i := range n {
		id, err := kind.AddAfter(ctx, time.Duration(i)*100*time.Millisecond, i+1)
		if err != nil {
			return nil, nil, nil, errors.Join(err, store.Close())
		}
		ids = append(ids, id)
	}
	return ids, kind, store.Close, nil
}

// freeAddresses returns addresses of loopback for members: each takes its port, and the one after.
func freeAddresses(n int) (all []string, err error) {
	for port := 12379; len(all) < n; port += 2 {
		if port > 32000 {
			return nil, errors.New("there are no free ports")
		}
		one, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err != nil {
			continue
		}
		if next, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port+1)); err == nil {
			all = append(all, one.Addr().String())
			next.Close()
		}
		one.Close()
	}
	return all, nil
}
