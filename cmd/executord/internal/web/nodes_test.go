package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/roles"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
	"github.com/executor-go/executor/durable/memory"
)

// cluster is a server for ann, who may act, and vic, who may look, over a store with a node. It has a pool with a
// schedule, as executord's own.
func cluster(t *testing.T) (h http.Handler, jobs *durable.Jobs, node string) {
	t.Helper()
	store := memory.New()
	if _, err := store.Join(t.Context(), "web1", time.Hour); err != nil {
		t.Fatal(err)
	}
	jobs, err := durable.New(durable.Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	observer := new(executor.Observer)
	pool, err := executor.NewScheduled(executor.ScheduledConfig{Workers: 1, Observer: observer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.ShutdownNow() })
	if _, err := pool.AtFixedRate(t.Context(), time.Hour, time.Hour, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	f, run := newFake("backup")
	t.Cleanup(func() { run.End(nil) })
	all := roles.Tokens{
		{Name: "ann", Role: roles.Operate, Sum: roles.SumOf(token)}, {Name: "vic", Role: roles.View, Sum: roles.SumOf(viewer)},
	}
	s := New(Config{Daemon: f, Access: ByToken, Tokens: func() roles.Tokens { return all }, Log: slog.New(slog.DiscardHandler),
		Durable: jobs, Observer: observer,
		Act: func(context.Context, client.Order) (admin.Answer, error) {
			t.Error("executord's own action was called")
			return admin.Answer{}, nil
		}})
	t.Cleanup(s.Close)
	return s.Handler(), jobs, "web1"
}

// drains reports whether the only node of a store is to drain.
func drains(t *testing.T, jobs *durable.Jobs) bool {
	t.Helper()
	nodes, err := jobs.Nodes(t.Context())
	if err != nil || len(nodes) != 1 {
		t.Fatal(nodes, err)
	}
	return nodes[0].Draining
}

// A node is drained and undrained from the page of the nodes. The audit log has who did it, and why.
func TestServerDrainsNode(t *testing.T) {
	h, jobs, node := cluster(t)
	for i, do := range []string{"drain", "undrain"} {
		link := "act?do=" + do + "&amp;node=" + node
		if page := ask(h, "GET", "/nodes", header("Authorization", "Bearer "+token)).Body.String(); !strings.Contains(page, link) {
			t.Errorf("the page of the nodes does not offer to %s: %s", do, page)
		}
		did(t, h, url.Values{"do": {do}, "node": {node}, "reason": {"a new kernel"}})
		if drains(t, jobs) != (do == "drain") {
			t.Errorf("after %s the node drains: %t", do, drains(t, jobs))
		}
		acts, err := jobs.Acts(t.Context(), durable.ActFilter{Limit: 1})
		if err != nil || len(acts) != 1 || acts[0].Action != do || acts[0].Key != node || acts[0].Reason != "a new kernel" ||
			!strings.HasPrefix(acts[0].Who, "ann at ") {
			t.Errorf("the audit log of action %d is %+v, %v", i, acts, err)
		}
	}
}

// Who may look neither sees how to drain a node nor can.
func TestServerLetsNoViewerDrain(t *testing.T) {
	h, jobs, node := cluster(t)
	who := header("Authorization", "Bearer "+viewer)
	if page := ask(h, "GET", "/nodes", who).Body.String(); !strings.Contains(page, node) || strings.Contains(page, "act?") {
		t.Errorf("the page of the nodes is %s", page)
	}
	w := post(h, url.Values{"do": {"drain"}, "node": {node}, "reason": {"x"}}, who)
	if w.Code != http.StatusForbidden || drains(t, jobs) {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

// Of module ui's own actions no other passes, and its pages offer none that does not.
func TestServerPassesNoOtherActionOfUI(t *testing.T) {
	h, jobs, node := cluster(t)
	kind := durable.Handle(jobs, "mail", func(context.Context, int) (int, error) { return 0, nil })
	id, err := kind.AddAfter(t.Context(), time.Hour, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]url.Values{
		"a job":             {"do": {"cancel"}, "id": {id.String()}},
		"a job, as a node":  {"do": {"cancel"}, "id": {id.String()}, "node": {node}},
		"jobs":              {"do": {"cancel"}, "jobs": {""}},
		"a pool":            {"do": {"resize"}, "pool": {"1"}, "value": {"9"}},
		"a pool, as a node": {"do": {"drain"}, "pool": {"1"}, "node": {node}, "value": {"9"}},
		"a series":          {"do": {"cancel"}, "series": {"1"}},
		"no node":           {"do": {"drain"}},
		"nothing":           {"node": {node}},
	} {
		form.Set("reason", "x")
		if w := post(h, form, nil); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d, want 400: %s", name, w.Code, w.Body)
		}
	}
	if j, err := jobs.Get(t.Context(), id); err != nil || j.State != durable.Waiting || drains(t, jobs) {
		t.Errorf("the job is %v, %v, and the node drains: %t", j.State, err, drains(t, jobs))
	}
	for _, path := range []string{"/schedules", "/pools", "/pool?id=1", "/runs", "/acts"} {
		if page := ask(h, "GET", path, header("Authorization", "Bearer "+token)); page.Code != http.StatusOK || strings.Contains(page.Body.String(), "act?") {
			t.Errorf("%s is %d: %s", path, page.Code, page.Body)
		}
	}
}

// While its own node drains, the first page of a daemon says why jobs that are due do not begin.
func TestServerSaysThatDaemonDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs, err := durable.New(durable.Config{Store: memory.New(), Lease: time.Minute, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- jobs.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
		f, run := newFake("backup")
		defer run.End(nil)
		h := New(Config{Daemon: f, Durable: jobs}).Handler()
		says := func() bool {
			time.Sleep(time.Minute) // a heartbeat comes, and the page is made anew
			synctest.Wait()
			return strings.Contains(ask(h, "GET", "/", nil).Body.String(), `<a href="nodes"><i class="pill held">this daemon is draining</i></a>`)
		}
		if says() {
			t.Error("a daemon drains that was not drained")
		}
		own, _ := jobs.Node()
		if err := jobs.DrainNode(t.Context(), own.Name); err != nil {
			t.Fatal(err)
		}
		if !says() {
			t.Error("a drained daemon does not say so")
		}
		if err := jobs.UndrainNode(t.Context(), own.Name); err != nil {
			t.Fatal(err)
		}
		if says() {
			t.Error("an undrained daemon drains")
		}
	})
}
