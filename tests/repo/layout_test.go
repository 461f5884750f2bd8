package repo

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// This file holds the layout of the repository: which package may import which.
// Change its tables together with docs/design/architecture.md.

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
	{"durable/etcd", []string{".", "durable"}},
	{"ui/internal/assets", nil},
	{"ui", []string{".", "durable"}},
	{"cmd/executord", []string{".", "durable", "durable/etcd", "ui"}},
	{"examples", []string{".", "durable", "durable/etcd", "ui"}},
	{"bench", []string{".", "durable", "durable/etcd"}},
	{"tests", []string{".", "durable", "otel", "ui"}},
}

// layer is a package, by its directory in its module, and which others of the module it may import; "." is the root.
type layer struct {
	dir     string
	imports []string
}

// layers has the packages of the modules that have several. A package imports those before it only, and each arrow is
// used. Tests may import more.
var layers = map[string][]layer{".": coreLayers, "durable": durableLayers, "ui": uiLayers, executordDir: executordLayers}

var coreLayers = []layer{
	{"internal/ring", nil},
	{"internal/heap", nil},
	{"internal/alarm", nil},
	{"internal/spinlock", nil},
	{"internal/list", nil},
	{"internal/cause", nil},
	{"internal/lanes", []string{"internal/list"}},
	{"internal/bucket", nil},
	{"internal/delay", []string{"internal/heap"}},
	{"internal/engine", []string{
		"internal/alarm", "internal/bucket", "internal/delay", "internal/heap", "internal/lanes", "internal/list",
		"internal/ring", "internal/spinlock",
	}},
	{"internal/task", []string{"internal/cause", "internal/engine", "internal/list"}},
	{"internal/rhythm", []string{"internal/delay"}},
	{"internal/ctxgroup", []string{"internal/list", "internal/spinlock"}},
	{"queue", []string{"internal/cause", "internal/heap", "internal/ring", "internal/spinlock"}},
	{"cron", nil},
	{"histogram", nil},
	{".", []string{
		"histogram", "internal/engine", "internal/task", "internal/delay", "internal/ctxgroup", "internal/list",
		"internal/bucket", "internal/rhythm",
	}},
	{"executortest", []string{".", "queue"}},
	{"java", []string{".", "internal/cause", "queue"}},
	{"internal/testkit/check", nil},
	{"internal/testkit", []string{"."}},
}

var durableLayers = []layer{
	{"internal/argument", nil},
	{"internal/text", nil},
	{"internal/output", nil},
	{"internal/storeclock", nil},
	{"store", []string{"internal/argument"}},
	{"internal/timetable", []string{"internal/argument", "store"}},
	{"store/transition", []string{"store"}},
	{"internal/node", []string{
		"internal/argument", "internal/output", "internal/storeclock", "internal/text", "internal/timetable", "store",
	}},
	{"transfer", []string{"internal/argument", "store"}},
	{".", []string{"internal/argument", "internal/node", "internal/output", "internal/text", "internal/timetable", "store"}},
	{"admin", []string{".", "internal/argument", "store/transition"}},
	{"shards", []string{".", "internal/argument", "store"}},
	{"internal/sqlrow", []string{".", "store"}},
	{"store/rows", []string{"store", "store/transition"}},
	{"memory", []string{"store/rows"}},
	{"sqlite", []string{".", "internal/argument", "internal/sqlrow", "store", "store/transition"}},
	{"postgres", []string{".", "internal/argument", "internal/sqlrow", "store", "store/transition"}},
	{"internal/faults", nil},
	{"internal/figures", nil},
	{"internal/model", nil},
	{"internal/history", []string{".", "store"}},
	{"internal/steptest", []string{"."}},
	{"internal/aheadtest", []string{".", "store"}},
	{"internal/graphtest", []string{".", "store"}},
	{"internal/poisontest", []string{".", "store"}},
	{"durabletest", []string{".", "memory"}},
	{"storetest", []string{".", "store"}},
	{"storetest/pgserver", nil},
	{"internal/pgtest", []string{"storetest/pgserver"}},
}

var uiLayers = []layer{
	{"page", nil},
	{"internal/address", nil},
	{"internal/source", []string{"internal/address"}},
	{"internal/poolview", []string{"page"}},
	{"internal/figures", []string{"internal/poolview", "page"}},
	{"internal/act", []string{"internal/address", "internal/figures", "internal/poolview", "internal/source", "page"}},
	{"internal/pages", []string{
		"internal/act", "internal/address", "internal/figures", "internal/poolview", "internal/source", "page",
	}},
	{"debug", []string{"internal/poolview", "page"}},
	{".", []string{"internal/act", "internal/address", "internal/figures", "internal/pages", "internal/source", "page"}},
	{"internal/pagetest", nil},
}

// executordDir has the commands of executord, which may import all that is internal to it.
const executordDir = "cmd/executord"

var executordLayers = within("internal", []layer{
	{"about", nil},
	{"filelock", nil},
	{"fresh", nil},
	{"inputfile", nil},
	{"logwriter", nil},
	{"setback", nil},
	{"notify", []string{"inputfile", "setback"}},
	{"outcome", nil},
	{"process", nil},
	{"request", nil},
	{"systemd", nil},
	{"traces", nil},
	{"job", []string{"inputfile", "notify"}},
	{"job/jobtest", []string{"job"}},
	{"terminal", []string{"job"}},
	{"complaint", []string{"job", "logwriter"}},
	{"certificate", []string{"complaint", "inputfile"}},
	{"certificate/certificatetest", nil},
	{"exposure", []string{"job"}},
	{"forecast", []string{"job"}},
	{"roles", []string{"job"}},
	{"variables", []string{"inputfile", "job"}},
	{"keys", []string{"job", "notify"}},
	{"crontab", []string{"job", "keys"}},
	{"tomlfile", []string{"complaint", "job", "keys", "notify", "request"}},
	{"importer", []string{"job", "tomlfile"}},
	{"environ", []string{"about", "job", "process", "variables"}},
	{"foreground", []string{"complaint", "environ", "job", "process", "variables"}},
	{"runlog", []string{"about", "complaint", "job", "logwriter", "outcome", "terminal"}},
	{"stores", []string{"complaint", "exposure", "filelock", "job"}},
	{"anystore", []string{"complaint", "job", "stores", "terminal"}},
	{"catalog", []string{"job", "setback"}},
	{"view", []string{"catalog", "job", "outcome"}},
	{"record", []string{"outcome", "view"}},
	{"client", []string{"catalog", "job", "outcome", "view"}},
	{"daemon", []string{
		"about", "catalog", "client", "environ", "job", "notify", "outcome", "process", "record", "variables", "view",
	}},
	{"web", []string{"catalog", "client", "daemon", "job", "notify", "outcome", "record", "roles", "view"}},
})

// within returns layers whose directories are given as seen from one of the module.
func within(dir string, layers []layer) []layer {
	for i, l := range layers {
		layers[i].dir = path.Join(dir, l.dir)
		for j, to := range l.imports {
			l.imports[j] = path.Join(dir, to)
		}
	}
	return layers
}

// Modules and packages import each other along the arrows of the layout only, and no module imports an internal package
// of another: users upgrade modules one by one, and an internal package has no compatibility to keep.
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
			t.Errorf("module %q is not in the layout; add it to moduleArrows in %s", m, here)
		}
	}
	allowed := make(map[string][]string)
	for module, laid := range layers {
		for _, l := range laid {
			dir, arrows := path.Join(module, l.dir), []string{}
			for _, to := range l.imports {
				to = path.Join(module, to)
				if _, before := allowed[to]; !before {
					t.Errorf("layers has %q before %q, which it imports; move it behind", dir, to)
				}
				arrows = append(arrows, to)
			}
			allowed[dir] = arrows
		}
	}

	type arrow struct{ from, to string }
	unused := make(map[arrow]bool)
	for from, all := range allowed {
		unused[arrow{from, ""}] = true
		for _, to := range all {
			unused[arrow{from, to}] = true
		}
	}
	for _, f := range files {
		home := f.module(modules)
		isLaid := layers[home] != nil && f.dir != executordDir
		arrows, known := allowed[f.dir]
		delete(unused, arrow{f.dir, ""})
		if isLaid && !known {
			t.Errorf("%s: package %q is not in the layout; add it to the layers in %s", f.name, f.dir, here)
			continue
		}
		for _, p := range f.imports() {
			dir, own := ours(p)
			first, _, _ := strings.Cut(p, "/")
			if !f.test {
				delete(unused, arrow{f.dir, dir})
			}
			switch to := moduleOf(dir, modules); {
			case !own && home == "." && strings.Contains(first, "."):
				t.Errorf("%s imports %s: the core uses the standard library only; move what needs it to a module of its own", f.name, p)
			case !own:
			case !slices.Contains(between[home], to):
				t.Errorf("%s imports %s: there is no arrow from module %q to %q; turn the dependency round, or add it to moduleArrows in %s", f.name, p, home, to, here)
			case home != to && isInternal(dir) && !f.test: // users compile no tests
				t.Errorf("%s imports %s: it is internal to module %q, which may change it in any release; use what that module exports", f.name, p, to)
			case home != to:
			case f.test || !isLaid: // tests may look around, as far as Go lets them
			case !slices.Contains(arrows, dir):
				t.Errorf("%s imports %s: there is no arrow from %q to %q; turn the dependency round, or add it to the layers in %s", f.name, p, f.dir, dir, here)
			}
		}
	}
	for a := range unused {
		if a.to == "" {
			t.Errorf("the layers in %s have the package %q, which is gone; remove it", here, a.from)
		} else {
			t.Errorf("%q does not import %q any more; remove the arrow from the layers in %s", a.from, a.to, here)
		}
	}
}

// isInternal reports whether a directory is that of an internal package.
func isInternal(dir string) bool { return slices.Contains(strings.Split(dir, "/"), "internal") }

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
