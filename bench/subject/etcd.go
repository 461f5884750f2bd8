package subject

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/executor-go/executor/bench/drive"
	"github.com/executor-go/executor/durable/etcd"
)

var durableEtcd = Subject{
	ID: "executor-etcd", Title: "executor on etcd", Own: true, MaxTasks: 100_000,
	How: "the same on three members, all of which are in the program and sync their logs to one disk. " +
		"So its CPU time and memory are those of three programs.",
	Funcs: merge(drive.Durable(func(workers int, _ bool, task func(time.Time)) drive.Jobs {
		store, remove := openEtcd()
		jobs := openDurable(store, workers, task)
		jobs.Close = remove
		return jobs
	}), drive.DurablePeriodic(func(workers int, tasks []*drive.Periodic) func() {
		store, remove := openEtcd()
		stop := runPeriodic(store, workers, tasks)
		return func() {
			stop()
			remove()
		}
	}), drive.DurableCalls(func() drive.Calls {
		store, remove := openEtcd()
		calls := openCalls(store)
		calls.Fill = func(waiting, over int) { fillByCalls(calls, waiting, over) }
		calls.Close = remove
		return calls
	})),
}

// openEtcd opens the store of one of three members.
func openEtcd() (store *etcd.Store, remove func()) {
	dir, err := os.MkdirTemp("", "bench-etcd")
	must(err)
	peers := freePeers(3)
	all := make([]*etcd.Store, len(peers))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var joining sync.WaitGroup
	for i, self := range peers {
		joining.Go(func() {
			var err error
			all[i], err = etcd.Join(ctx, etcd.Member{Peers: peers, Self: self, Dir: filepath.Join(dir, fmt.Sprint(i)),
				Logger: slog.New(slog.DiscardHandler)})
			must(err)
		})
	}
	joining.Wait()
	return all[0], func() {
		for _, s := range all {
			must(s.Close())
		}
		os.RemoveAll(dir)
	}
}

// freePeers returns addresses of loopback whose ports, and those after them, are free, and of no range that the system
// takes ports from.
func freePeers(n int) (peers []string) {
	for port := 10_000; len(peers) < n; port += 2 {
		if isFree(port) && isFree(port+1) {
			peers = append(peers, fmt.Sprint("127.0.0.1:", port))
		}
	}
	return peers
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err == nil {
		l.Close()
	}
	return err == nil
}
