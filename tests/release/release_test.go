package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	"github.com/executor-go/executor/tests/internal/site"
	"github.com/executor-go/executor/tests/internal/tree"
)

func TestMain(m *testing.M) { tree.Main(m) }

var long = flag.Bool("release.long", false, "build the daemon for all systems, twice")

// A release pushes a commit and a tag of each module on it, which fit each other, and leaves the
// tree as it is. Its files are of that version.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds executord")
	}
	const version = "v0.9999.0"
	root := copyTree(t)
	name := filepath.Join(root, "CHANGELOG.md")
	changes, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const part = "## [Unreleased]\n\n## [0.9999.0] - 2026-11-27\n\n- A change.\n\n## [0.1.0]\n"
	changes = bytes.Replace(changes, []byte("## [Unreleased]\n"), []byte(part), 1)
	if err := os.WriteFile(name, changes, 0o644); err != nil {
		t.Fatal(err)
	}
	newRepository(t, root)
	origin := t.TempDir()
	run(t, origin, "init", "--quiet", "--bare")
	run(t, root, "remote", "add", "origin", origin)
	head := run(t, root, "rev-parse", "HEAD")

	systems := []string{runtime.GOOS + "/" + runtime.GOARCH}
	if *long {
		systems = strings.Split(common, ",")
	}
	s, err := release(t.Context(), root, version, systems, true)
	if err != nil {
		t.Fatal(err)
	}
	if after := run(t, root, "rev-parse", "HEAD"); after != head || run(t, root, "status", "--porcelain")+run(t, root, "tag") != "" {
		t.Error("the working tree has changed")
	}
	want := []string{
		"cmd/executord/" + version, "durable/otel/" + version, "durable/" + version, "otel/" + version, "ui/" + version, version,
	}
	if got := strings.Fields(run(t, origin, "tag", "--points-at", "main")); !slices.Equal(got, want) {
		t.Errorf("the commit has the tags %q, want %q", got, want)
	}
	sums := run(t, origin, "show", "cmd/executord/"+version+":cmd/executord/go.sum")
	for _, m := range []string{"", "/durable", "/ui"} {
		if line := "\ngithub.com/executor-go/executor" + m + " " + version + " h1:"; !strings.Contains("\n"+sums, line) {
			t.Errorf("go.sum of executord lacks %q", line)
		}
	}
	dist := filepath.Join(s.Work, "dist")
	testFiles(t, dist, version)
	if notes, err := os.ReadFile(filepath.Join(dist, "notes.md")); err != nil || !strings.HasSuffix(string(notes), "\n\n- A change.\n") {
		t.Errorf("the notes are %q, error %v", notes, err)
	}
	if *long {
		testReproducible(t, s.Env, dist, version, systems)
		testImage(t, s.Work, version)
	}
}

// testFiles tests that the files of a release belong together.
func testFiles(t *testing.T, dist, version string) {
	t.Helper()
	check := exec.Command("sha256sum", "--check", "--quiet", "SHA256SUMS")
	check.Dir = dist
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	program := "executord-" + runtime.GOOS + "-" + runtime.GOARCH
	out, err := exec.Command(filepath.Join(dist, program), "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "executord "+version+" ") {
		t.Errorf("it says %q, error %v", out, err)
	}
	notices, _ := os.ReadFile(filepath.Join(dist, "NOTICES"))
	data, _ := os.ReadFile(filepath.Join(dist, program+".cdx.json"))
	var bill struct {
		Metadata   struct{ Component component }
		Components []component
	}
	if err := json.Unmarshal(data, &bill); err != nil || len(bill.Components) < 10 {
		t.Fatalf("%d components, error %v", len(bill.Components), err)
	}
	ours := 0
	for _, c := range append(bill.Components[1:], bill.Metadata.Component) {
		path := strings.TrimPrefix(c.PURL, "pkg:golang/")
		path, v, _ := strings.Cut(path, "@")
		if !strings.HasPrefix(v, "v") || !bytes.Contains(notices, []byte("\n"+path+"\n=")) {
			t.Errorf("no version or no license of %+v", c)
		}
		if strings.HasPrefix(path, "github.com/executor-go/executor") {
			ours++
			if v != version {
				t.Errorf("%+v has not the version %s", c, version)
			}
		}
	}
	if ours != 4 { // the core, durable, ui, executord
		t.Errorf("the bill has %d of our modules", ours)
	}
}

// testReproducible builds the files once more, with a build cache and a module cache that are empty and elsewhere.
func testReproducible(t *testing.T, env []string, dist, version string, systems []string) {
	t.Helper()
	cache := t.TempDir()
	again := t.TempDir()
	env = append(slices.Clone(env), "GOCACHE="+filepath.Join(cache, "build"), "GOMODCACHE="+filepath.Join(cache, "mod"))
	t.Cleanup(func() {
		clean := exec.Command("go", "clean", "-modcache") // it is read-only
		clean.Env = env
		if out, err := clean.CombinedOutput(); err != nil {
			t.Errorf("go clean: %v\n%s", err, out)
		}
	})
	if err := files(t.Context(), env, again, version, systems); err != nil {
		t.Fatal(err)
	}
	a, errA := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	b, errB := os.ReadFile(filepath.Join(again, "SHA256SUMS"))
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("two builds have the sums\n%s%s errors %v, %v", a, b, errA, errB)
	}
}

// testImage builds the image of the files for this machine's kind, and runs executord in it, without rights.
func testImage(t *testing.T, work, version string) {
	t.Helper()
	if out, err := exec.Command("docker", "info").CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Errorf("docker info: %v\n%s", err, out)
		}
		t.Log("the image is not tested: Docker is missing, or does not run")
		return
	}
	file := filepath.Join(work, "clone", "cmd", "executord", "Dockerfile")
	id, err := exec.Command("docker", "build", "--quiet", "--file", file, filepath.Join(work, "dist")).Output()
	if err != nil {
		t.Fatalf("docker build: %v", err)
	}
	const script = `set -e; touch /data/jobs.db; TZ=Europe/Berlin date -d @0 +%H:%M; id -un; executord version`
	out, err := exec.Command("docker", "run", "--rm", "--entrypoint", "sh", strings.TrimSpace(string(id)), "-c", script).CombinedOutput()
	if want := "01:00\nnobody\nexecutord " + version + " "; err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("in the image: %q, error %v, want %q", out, err, want)
	}
}

// What is not ready is not released, and the error says what to do.
func TestCheckSaysWhatIsMissing(t *testing.T) {
	const part = "## [0.2.0] - 2026-11-27\n\n- More.\n\n## [0.1.0] - 2026-11-01\n\n- All.\n"
	for _, c := range []struct {
		name, changelog, want string
		prepare               func(root string)
	}{
		{"ready", "# Changelog\n\n## [Unreleased]\n\n" + part, "", nil},
		{"changes that the notes would lack", "## [Unreleased]\n\n- Other.\n\n" + part, "has no part for v0.2.0", nil},
		{"no part", "## [Unreleased]\n\n" + strings.ReplaceAll(part, "0.2.0", "0.3.0"), "has no part for v0.2.0", nil},
		{"no date", "## [Unreleased]\n\n## [0.2.0]\n\n- More.\n", "has no part for v0.2.0", nil},
		{"an empty part", "## [Unreleased]\n\n" + strings.Replace(part, "- More.\n", "", 1), "has no part for v0.2.0", nil},
		{"a new file", "## [Unreleased]\n\n" + part, "?? new.go", func(root string) {
			if err := os.WriteFile(filepath.Join(root, "new.go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"a tag of one module", "## [Unreleased]\n\n" + part, "the tags durable/v0.2.0", func(root string) {
			run(t, root, "tag", "durable/v0.2.0")
		}},
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "CHANGELOG.md"), []byte(c.changelog), 0o600); err != nil {
			t.Fatal(err)
		}
		newRepository(t, root)
		if c.prepare != nil {
			c.prepare(root)
		}
		notes, err := check(root, "v0.2.0")
		if got := fmt.Sprint(err); err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: error %s, want %q", c.name, got, c.want)
		}
		if err == nil && !strings.HasSuffix(notes, "```\n\n- More.\n") {
			t.Errorf("%s: the notes are %q", c.name, notes)
		}
	}
}

// A dry run pushes nothing.
func TestDryRunPushesNothing(t *testing.T) {
	root, origin := t.TempDir(), t.TempDir()
	newRepository(t, root)
	run(t, origin, "init", "--quiet", "--bare")
	run(t, root, "remote", "add", "origin", origin)
	for _, push := range []bool{false, true} {
		if err := pushAll(root, nil, push); err != nil {
			t.Error(err)
		}
		if got := run(t, origin, "for-each-ref") != ""; got != push {
			t.Errorf("pushAll(%t) has pushed: %t", push, got)
		}
	}
}

// A push that fails says what is left to push, and from where.
func TestPushSaysWhatIsLeft(t *testing.T) {
	root, origin := t.TempDir(), t.TempDir()
	newRepository(t, root)
	run(t, origin, "init", "--quiet", "--bare")
	run(t, root, "remote", "add", "origin", origin)
	var mods []site.Module
	for _, dir := range []string{"durable", "otel", "ui"} {
		mods = append(mods, site.Module{Version: module.Version{Version: "v0.1.0"}, Dir: dir})
		if dir != "otel" {
			run(t, root, "tag", dir+"/v0.1.0")
		}
	}
	err := pushAll(root, mods, true)
	if err == nil || !strings.Contains(err.Error(), root+": refs/tags/otel/v0.1.0 refs/tags/ui/v0.1.0") {
		t.Errorf("error %v", err)
	}
	if got := run(t, origin, "tag"); got != "durable/v0.1.0" {
		t.Errorf("pushed are the tags %q", got)
	}
}

// A system that is none is an error.
func TestFilesNamesWrongSystem(t *testing.T) {
	err := files(context.Background(), os.Environ(), t.TempDir(), "v0.1.0", []string{"linux"})
	if err == nil || !strings.Contains(err.Error(), `"linux" is not a system`) {
		t.Errorf("error %v", err)
	}
}

// copyTree makes a copy of the sources, without their history.
func copyTree(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	names := run(t, ".", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate")
	for name := range strings.SplitSeq(names, "\n") {
		info, err := os.Stat(name)
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// newRepository makes a repository of a directory, with one commit that has all of it.
func newRepository(t *testing.T, root string) {
	t.Helper()
	run(t, root, "init", "--quiet", "--initial-branch=main")
	run(t, root, "config", "user.name", "A. Maintainer")
	run(t, root, "config", "user.email", "maintainer@example.com")
	run(t, root, "add", "--all")
	run(t, root, "commit", "--quiet", "--allow-empty", "--message", "all")
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
