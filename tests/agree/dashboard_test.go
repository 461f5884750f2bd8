package agree

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/tests/internal/testkit"
	"github.com/executor-go/executor/ui/debug"
)

const (
	dashboardFile = "../../docs/observe/grafana.json"
	alertsFile    = "../../docs/observe/alerts.yml"
)

// exported returns the names of all metrics that /metrics has for a pool of each kind, with the
// names of their labels.
func exported(t *testing.T) map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	synctest.Test(t, func(t *testing.T) {
		o := &executor.Observer{Every: 1, MaxNames: 2}
		nop := func(context.Context) error { return nil }
		p := testkit.NewPool(t, executor.Config{Workers: 1, Queue: executor.Bounded(1), Observer: o})
		s := testkit.NewScheduled(t, executor.ScheduledConfig{Name: "timers", Workers: 1, Observer: o})
		testkit.MustGo(t, p, nop, executor.Named("a"))
		if _, err := s.AtFixedRate(context.Background(), 0, time.Second, nop, executor.Named("tick")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		text := asked(t, debug.Handler(o), "/metrics", "").Body.String()
		for _, m := range sample.FindAllStringSubmatch(text, -1) {
			if all[m[1]] == nil {
				// What a scrape adds, beside our own.
				all[m[1]] = map[string]bool{"job": true, "instance": true}
			}
			for _, label := range labelName.FindAllStringSubmatch(m[2], -1) {
				all[m[1]][label[1]] = true
			}
		}
	})
	return all
}

var (
	sample    = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? `)
	labelName = regexp.MustCompile(`([a-z_]+)="`)
)

var (
	quotedText = regexp.MustCompile(`"[^"]*"`)
	selector   = regexp.MustCompile(`([a-z_]+)\{([^}]*)\}`)
	grouping   = regexp.MustCompile(`\b(?:by|without|on|ignoring) \(([^)]*)\)`)
	duration   = regexp.MustCompile(`\[[^\]]*\]`)
	word       = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_]*`)
	call       = regexp.MustCompile(`^\s*\(`)
)

// expectExported reports what an expression has that is not exported: metrics, and labels of these.
func expectExported(t *testing.T, where, expr string, all map[string]map[string]bool) (used []string) {
	t.Helper()
	rest := duration.ReplaceAllString(quotedText.ReplaceAllString(expr, `""`), "")
	labels := make(map[string]bool)
	for _, m := range selector.FindAllStringSubmatch(rest, -1) {
		for _, label := range word.FindAllString(m[2], -1) {
			if !all[m[1]][label] {
				t.Errorf("%s: %s has no label %s", where, m[1], label)
			}
		}
	}
	rest = selector.ReplaceAllString(rest, "$1")
	for _, m := range grouping.FindAllStringSubmatch(rest, -1) {
		for _, label := range word.FindAllString(m[1], -1) {
			labels[label] = true
		}
	}
	rest = grouping.ReplaceAllString(rest, "")
	for _, at := range word.FindAllStringIndex(rest, -1) {
		name := rest[at[0]:at[1]]
		if call.MatchString(rest[at[1]:]) || slices.Contains([]string{"and", "or", "unless", "sum"}, name) {
			continue
		}
		if all[name] == nil {
			t.Errorf("%s: there is no metric %s, in %s", where, name, expr)
			continue
		}
		used = append(used, name)
		for label := range labels {
			if !all[name][label] {
				t.Errorf("%s: %s has no label %s, in %s", where, name, label, expr)
			}
		}
	}
	if len(used) == 0 {
		t.Errorf("%s: no metric in %s", where, expr)
	}
	return used
}

// The dashboard asks for metrics and labels that there are, and shows every one.
func TestDashboardMetrics(t *testing.T) {
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title, Description string
			Targets            []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Definition string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	all := exported(t)
	shown := make(map[string]bool)
	for _, p := range dashboard.Panels {
		if p.Title == "" || p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("a panel is not finished: %+v", p)
		}
		for _, target := range p.Targets {
			for _, name := range expectExported(t, p.Title, target.Expr, all) {
				shown[name] = true
			}
		}
	}
	for _, v := range dashboard.Templating.List {
		if values, ok := strings.CutPrefix(v.Definition, "label_values("); ok {
			at := strings.LastIndex(values, ", ")
			expr, label := values[:at], strings.TrimSuffix(values[at+2:], ")")
			for _, name := range expectExported(t, "variable "+v.Name, expr, all) {
				if !all[name][label] {
					t.Errorf("variable %s: %s has no label %s", v.Name, name, label)
				}
			}
		}
	}
	for name := range all {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if !shown[name] && !shown[base+"_bucket"] && name != "executor_worker_count" {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// Alerts are about metrics and labels that there are, and say what is wrong.
func TestAlertsMetrics(t *testing.T) {
	text, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	all := exported(t)
	rules := strings.Split(string(text), "      - alert: ")[1:]
	if len(rules) < 8 {
		t.Fatalf("%d alerts: is the file read right?", len(rules))
	}
	field := regexp.MustCompile(`(?m)^ +(expr|for|labels|summary|description): (.*)$`)
	subject := regexp.MustCompile(`\$labels\.(\w+)`)
	for _, rule := range rules {
		name, _, _ := strings.Cut(rule, "\n")
		fields := make(map[string]string)
		for _, m := range field.FindAllStringSubmatch(rule, -1) {
			fields[m[1]] = m[2]
		}
		if !strings.Contains(fields["labels"], "severity") || fields["summary"] == "" || fields["description"] == "" {
			t.Errorf("%s is not finished: %v", name, fields)
		}
		used := expectExported(t, name, fields["expr"], all)
		for _, m := range subject.FindAllStringSubmatch(rule, -1) {
			grouped := strings.Contains(fields["expr"], " by (") && !strings.Contains(fields["expr"], m[1])
			if len(used) > 0 && !all[used[0]][m[1]] || grouped {
				t.Errorf("%s: its text has the label %s, which the expression does not leave", name, m[1])
			}
		}
	}
	if promtool, err := exec.LookPath("promtool"); err == nil {
		if out, err := exec.Command(promtool, "check", "rules", alertsFile).CombinedOutput(); err != nil {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
}
