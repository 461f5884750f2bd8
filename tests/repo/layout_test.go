package repo

import (
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// This file holds the layout of the repository: which package may import which,
// and how much may be where. Its tables are meant to be changed, together with a
// decision in docs/design/decisions that says why.

const modulePath = "github.com/executor-go/executor"

// moduleArrows has the modules, and which others each of them may import. A
// module imports those before it only.
var moduleArrows = []struct {
	dir     string
	imports []string
}{
	{".", nil},
	{"durable", []string{"."}},
	{"otel", []string{"."}},
	{"durable/otel", []string{".", "durable"}},
	{"ui/internal/assets", nil},
	{"ui", []string{".", "durable"}},
	{"cmd/executord", []string{".", "durable", "ui"}},
	{"examples/durable", []string{".", "durable"}},
	{"bench", []string{".", "durable"}},
	{"tests", []string{".", "durable", "ui"}},
}

// layers has the packages of the core, and which others each of them may import;
// "." is the root. A package imports those before it only. Tests may import more.
var layers = []struct {
	dir     string
	imports []string
}{
	{"internal/ring", nil},
	{"internal/heap", []string{"internal/ring"}},
	{"internal/alarm", nil},
	{"internal/spinlock", nil},
	{"internal/list", nil},
	{"internal/cause", nil},
	{"internal/lanes", []string{"internal/list"}},
	{"internal/bucket", nil},
	{"internal/task", []string{"internal/cause", "internal/list", "internal/spinlock"}},
	{"internal/delay", []string{"internal/heap"}},
	{"internal/rhythm", []string{"internal/delay"}},
	{"internal/ctxgroup", []string{"internal/list", "internal/spinlock"}},
	{"queue", []string{"internal/cause", "internal/heap", "internal/ring", "internal/spinlock"}},
	{"cron", nil},
	{"histogram", nil},
	{".", []string{
		"histogram", "queue", "internal/task", "internal/delay", "internal/ctxgroup", "internal/list",
		"internal/alarm", "internal/heap", "internal/lanes", "internal/bucket", "internal/rhythm", "internal/ring", "internal/spinlock",
	}},
	{"internal/page", nil},
	{"internal/page/pagetest", nil},
	{"internal/poolview", []string{".", "histogram", "internal/page"}},
	{"debug", []string{".", "histogram", "internal/page", "internal/poolview"}},
	{"examples/crawler", []string{"."}},
	{"examples/etl", []string{".", "queue"}},
	{"examples/forkjoin", []string{"."}},
	{"examples/jobs", []string{".", "debug"}},
	{"examples/observed", []string{".", "cron", "debug"}},
	{"examples/scheduler", []string{".", "cron"}},
	{"examples/shaping", []string{"."}},
	{"executortest", []string{".", "queue"}},
	{"java", []string{".", "queue"}},
	{"internal/testkit/check", nil},
	{"internal/testkit", []string{".", "internal/testkit/check"}},
	{"internal/pgserver", nil},
}

// lent are the internal packages of the core that other modules import, with the
// reason. Their tests do, and pages, of which there are three sets; other programs of ours
// use public packages, as those of users do.
var lent = map[string]string{
	"internal/page":          "what all pages have in common, for ui and executord: what they refuse must not differ",
	"internal/page/pagetest": "a browser of live updates, for the tests of ui",
	"internal/poolview":      "what pages show of pools, for ui, which shows the same of them as debug",
	"internal/pgserver":      "starts PostgreSQL for the tests of three modules, and uses nothing of the core",
	"internal/testkit":       "helpers of the core's tests, for module tests",
	"internal/testkit/check": "helpers of the core's tests, for module tests",
}

// Modules and packages import each other along the arrows of the layout only.
func TestImportArrows(t *testing.T) {
	files, modules := workspace(t)
	between := make(map[string][]string)
	for _, m := range moduleArrows {
		for _, to := range m.imports {
			if between[to] == nil && to != "." {
				t.Errorf("moduleArrows has %q before %q, which it imports; move it behind", m.dir, to)
			}
		}
		between[m.dir] = append(m.imports, m.dir)
	}
	for _, m := range modules {
		if between[m] == nil {
			t.Errorf("module %q is not in the layout; add it to moduleArrows in %s, and write a decision", m, here)
		}
	}
	allowed := make(map[string][]string)
	for _, l := range layers {
		for _, to := range l.imports {
			if _, before := allowed[to]; !before {
				t.Errorf("layers has %q before %q, which it imports; move it behind", l.dir, to)
			}
		}
		allowed[l.dir] = l.imports
	}

	staleLayers, staleLent := maps.Clone(allowed), maps.Clone(lent)
	for _, f := range files {
		home := f.module(modules)
		arrows, known := allowed[f.dir]
		delete(staleLayers, f.dir)
		if home == "." && !known {
			t.Errorf("%s: package %q is not in the layout; add it to layers in %s, and write a decision", f.name, f.dir, here)
			continue
		}
		for _, p := range f.imports() {
			dir, own := ours(p)
			first, _, _ := strings.Cut(p, "/")
			switch to := moduleOf(dir, modules); {
			case !own && home == "." && strings.Contains(first, "."):
				t.Errorf("%s imports %s: the core uses the standard library only; move what needs it to a module of its own", f.name, p)
			case !own:
			case !slices.Contains(between[home], to):
				t.Errorf("%s imports %s: there is no arrow from module %q to %q; turn the dependency round, or add it to moduleArrows in %s and write a decision", f.name, p, home, to, here)
			case home != to:
				delete(staleLent, dir)
				if to == "." && strings.HasPrefix(dir, "internal/") && lent[dir] == "" {
					t.Errorf("%s imports %s: other modules use the core by its public packages, as users do", f.name, p)
				}
			case f.test || home != ".": // tests may look around, as far as Go lets them
			case !slices.Contains(arrows, dir):
				t.Errorf("%s imports %s: there is no arrow from %q to %q; turn the dependency round, or add it to layers in %s and write a decision", f.name, p, f.dir, dir, here)
			}
		}
	}
	for dir := range staleLayers {
		t.Errorf("layers in %s has the package %q, which is gone; remove it", here, dir)
	}
	for dir := range staleLent {
		t.Errorf("lent in %s has %s, which no other module imports; remove it", here, dir)
	}
}

const here = "tests/repo/layout_test.go"

// What is there for tests is imported by tests only. A package whose name ends
// in "test" is for tests, like httptest.
func TestTestSupportStaysInTests(t *testing.T) {
	files, _ := workspace(t)
	for _, f := range files {
		if f.test || forTests(f.dir) {
			continue
		}
		for _, p := range f.imports() {
			dir, own := ours(p)
			if p == "testing" || strings.HasPrefix(p, "testing/") || own && forTests(dir) {
				t.Errorf("%s imports %s: move what needs it to a _test.go file, or to a package whose name ends in test", f.name, p)
			}
		}
	}
}

func forTests(dir string) bool {
	return strings.HasSuffix(dir, "test") || strings.HasPrefix(dir, "tests/") || strings.HasPrefix(dir, "internal/testkit")
}

// The core requires no other module.
func TestNoRequirements(t *testing.T) {
	for line := range strings.Lines(read(t, "go.mod")) {
		for _, word := range []string{"require", "replace", "tool", "toolchain"} {
			if strings.HasPrefix(line, word) {
				t.Errorf("go.mod: %sthe core has no dependency; move what needs it to a module of its own", line)
			}
		}
	}
}

// No module requires the module tests, which is never published.
func TestTestsArePrivate(t *testing.T) {
	_, modules := workspace(t)
	for _, m := range modules {
		if m != "tests" && strings.Contains(read(t, path.Join(m, "go.mod")), modulePath+"/tests") {
			t.Errorf("%s/go.mod requires the module tests, which is never published", m)
		}
	}
}

// A source is short enough to be read at one go, and a test to be searched.
func TestFileLength(t *testing.T) {
	files, _ := workspace(t)
	for _, f := range files {
		most := 500
		if f.test {
			most = 1000
		}
		if n := strings.Count(f.text, "\n"); n > most {
			t.Errorf("%s has %d lines, the most is %d; split it by idea, with a common prefix for its parts", f.name, n, most)
		}
	}
}

// The root can be taken in at a look.
func TestRootIsSmall(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v; the tests of the repository need its git directory", err)
	}
	entries := make(map[string]bool)
	for file := range strings.Lines(string(out)) {
		first, _, _ := strings.Cut(strings.TrimSpace(file), "/")
		entries[first] = true
	}
	sources, tests := 0, 0
	files, _ := workspace(t)
	for _, f := range files {
		switch {
		case f.dir != ".":
		case f.test:
			tests++
		default:
			sources++
		}
	}
	for _, c := range []struct {
		what    string
		n, most int
	}{
		{"entries", len(entries), 87},
		{"source files", sources, 28},
		{"test files", tests, 36},
	} {
		if c.n > c.most {
			t.Errorf("root has %d %s, the most is %d; merge what belongs together, or move it to a package", c.n, c.what, c.most)
		}
	}
}

// withoutSource are the test files of the root that stand beside no source, with the
// reason.
var withoutSource = map[string]string{
	"bench_test.go":          "what tasks cost in time and memory",
	"example_test.go":        "examples of the whole package",
	"example_future_test.go": "examples of the whole package",
	"internal_test.go":       "what can't be tested from outside",
}

// A test of the root is found by the name of its source: x_test.go, or x_y_test.go for
// one of several, stands beside x.go.
func TestRootTestsHaveSources(t *testing.T) {
	files, _ := workspace(t)
	sources := make(map[string]bool)
	for _, f := range files {
		if f.dir == "." && !f.test {
			sources[strings.TrimSuffix(f.name, ".go")] = true
		}
	}
	stale := maps.Clone(withoutSource)
	for _, f := range files {
		if f.dir != "." || !f.test {
			continue
		}
		delete(stale, f.name)
		name := strings.TrimSuffix(f.name, "_test.go")
		for !sources[name] && strings.Contains(name, "_") {
			name = name[:strings.LastIndex(name, "_")]
		}
		if !sources[name] && withoutSource[f.name] == "" {
			t.Errorf("%s stands beside no source; name it for the file that it tests, or add it to withoutSource in %s", f.name, here)
		}
	}
	for name := range stale {
		t.Errorf("withoutSource in %s has %s, which is gone; remove it", here, name)
	}
}

// Each package says what it is in one place, where it is looked for.
func TestPackageComments(t *testing.T) {
	files, _ := workspace(t)
	comments := make(map[string][]string)
	homes := make(map[string][]string)
	for _, f := range files {
		if f.test {
			continue
		}
		homes[f.dir] = []string{"doc.go", path.Base(f.dir) + ".go", f.ast.Name.Name + ".go"}
		if f.dir == "." {
			homes[f.dir] = []string{"doc.go"}
		}
		if f.ast.Doc != nil {
			comments[f.dir] = append(comments[f.dir], path.Base(f.name))
		}
	}
	for dir, home := range homes {
		if in := comments[dir]; len(in) != 1 || !slices.Contains(home, in[0]) {
			t.Errorf("package %q has its comment in %q; it must have one, in one of %q", dir, in, home)
		}
	}
}

// No package has a name that would fit anything.
func TestPackageNames(t *testing.T) {
	files, _ := workspace(t)
	empty := []string{"util", "utils", "common", "helper", "helpers", "types", "pkg", "misc", "base", "shared"}
	for _, f := range files {
		for _, name := range append(strings.Split(f.dir, "/"), f.ast.Name.Name) {
			if slices.Contains(empty, name) {
				t.Errorf("%s: the name %q says nothing; name it for what is inside", f.name, name)
			}
		}
	}
}

// What a user of the core has to know by name does not grow.
func TestSurface(t *testing.T) {
	const goal, most, mostOfPool = 85, 85, 20
	names := strings.Count(command(t, "go", "doc", "-short", modulePath), "\n")
	if names > most {
		t.Errorf("go doc -short prints %d lines, the most is %d: find one name that does the work of two", names, most)
	}
	if names > goal {
		unreached(t, "go doc -short prints %d lines, the most is %d", names, goal)
	}
	if n := strings.Count(command(t, "go", "doc", modulePath+".Pool"), "\nfunc (p *Pool) "); n == 0 || n > mostOfPool {
		t.Errorf("Pool has %d methods, the most is %d", n, mostOfPool)
	}
}
