package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
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
	if os.Getenv("EXECUTOR_LONG") == "" {
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
		"cmd/executord/" + version, "durable/etcd/" + version, "durable/otel/" + version, "durable/" + version, "otel/" + version, "ui/" + version, version,
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
	dist := distOf(s)
	testFiles(t, dist, version)
	testImage(t, dist, systems)
	if notes, err := os.ReadFile(filepath.Join(dist, "notes.md")); err != nil || !strings.HasSuffix(string(notes), "\n\n- A change.\n") {
		t.Errorf("the notes are %q, error %v", notes, err)
	}
	if *long {
		testReproducible(t, s, version, systems)
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
func testReproducible(t *testing.T, s *site.Site, version string, systems []string) {
	t.Helper()
	dist := distOf(s)
	cache := t.TempDir()
	again := t.TempDir()
	env := append(slices.Clone(s.Env), "GOCACHE="+filepath.Join(cache, "build"), "GOMODCACHE="+filepath.Join(cache, "mod"))
	t.Cleanup(func() {
		clean := exec.Command("go", "clean", "-modcache") // it is read-only
		clean.Env = env
		if out, err := clean.CombinedOutput(); err != nil {
			t.Errorf("go clean: %v\n%s", err, out)
		}
	})
	if err := files(t.Context(), env, filepath.Join(s.Work, "clone"), again, version, systems); err != nil {
		t.Fatal(err)
	}
	a, errA := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	b, errB := os.ReadFile(filepath.Join(again, "SHA256SUMS"))
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("two builds have the sums\n%s%s errors %v, %v", a, b, errA, errB)
	}
}

// The image has the programs for Linux, is run as its Dockerfile says, and is the same if it is made again.
func TestImageHasPrograms(t *testing.T) {
	if _, err := os.Stat("/etc/ssl/certs/ca-certificates.crt"); err != nil {
		t.Skip("the package ca-certificates is missing:", err)
	}
	dist := t.TempDir()
	systems := []string{"linux/amd64", "darwin/arm64", "linux/arm64"}
	for _, name := range []string{"executord-linux-amd64", "executord-linux-arm64", "NOTICES"} {
		if err := os.WriteFile(filepath.Join(dist, name), []byte("this is "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, err := image(".", dist, "v0.1.0", systems)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := image(".", dist, "v0.1.0", systems); err != nil || !bytes.Equal(first, second) {
		t.Errorf("made again it differs, error %v", err)
	}
	if err := os.WriteFile(filepath.Join(dist, imageName), first, 0o600); err != nil {
		t.Fatal(err)
	}
	testImage(t, dist, systems)
}

// testImage tests that the image has a manifest for each system of Linux, whose blobs are those that it names, and that
// executord and its licenses are in the layer.
func testImage(t *testing.T, dist string, systems []string) {
	t.Helper()
	file, err := os.Open(filepath.Join(dist, imageName))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	files := untar(t, file)
	read := func(d descriptor, v any) []byte {
		t.Helper()
		data := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if len(data) != d.Size || d.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(data)) {
			t.Fatalf("the blob %+v is missing, or another", d)
		}
		if v != nil {
			if err := json.Unmarshal(data, v); err != nil {
				t.Fatal(err)
			}
		}
		return data
	}
	var outer, index struct{ Manifests []descriptor }
	if err := json.Unmarshal(files["index.json"], &outer); err != nil || len(outer.Manifests) != 1 {
		t.Fatalf("the index is %s, error %v", files["index.json"], err)
	}
	read(outer.Manifests[0], &index)
	var got []string
	for _, m := range index.Manifests {
		system := m.Platform["os"] + "/" + m.Platform["architecture"]
		got = append(got, system)
		var manifest struct {
			Config descriptor
			Layers []descriptor
		}
		var config struct {
			Config struct {
				User       string
				Entrypoint []string
			}
			RootFS struct {
				DiffIDs []string `json:"diff_ids"`
			}
		}
		read(m, &manifest)
		read(manifest.Config, &config)
		z, err := gzip.NewReader(bytes.NewReader(read(manifest.Layers[0], nil)))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("sha256:%x", sha256.Sum256(plain)); !slices.Equal(config.RootFS.DiffIDs, []string{want}) {
			t.Errorf("%s: the layer is %s, and the image names %q", system, want, config.RootFS.DiffIDs)
		}
		if config.Config.User != "10001:10001" || !slices.Equal(config.Config.Entrypoint, []string{"/usr/bin/executord"}) {
			t.Errorf("%s: it is run as %+v", system, config.Config)
		}
		root := untar(t, bytes.NewReader(plain))
		for name, from := range map[string]string{
			"usr/bin/executord": "executord-" + strings.ReplaceAll(system, "/", "-"), "etc/executord/NOTICES": "NOTICES",
		} {
			if want, err := os.ReadFile(filepath.Join(dist, from)); err != nil || !bytes.Equal(root[name], want) {
				t.Errorf("%s: %s is not %s of the release, error %v", system, name, from, err)
			}
		}
		if _, ok := root["data/"]; !ok {
			t.Errorf("%s: it has no /data", system)
		}
	}
	want := slices.DeleteFunc(slices.Clone(systems), func(s string) bool { return !strings.HasPrefix(s, "linux/") })
	if !slices.Equal(got, want) {
		t.Errorf("the image is for %q, want %q", got, want)
	}
}

// untar returns the files of a tar archive by their names. /data must belong to the user of the image.
func untar(t *testing.T, r io.Reader) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if (h.Uid == 10001) != (h.Name == "data/") {
			t.Errorf("%s belongs to user %d", h.Name, h.Uid)
		}
		if files[h.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

// What is not ready is not released, and the error says what to do.
func TestCheckSaysWhatIsMissing(t *testing.T) {
	const part = "## [0.2.0] - 2026-11-27\n\n- More,\n  and more.\n\n## [0.1.0] - 2026-11-01\n\n- All.\n"
	for _, c := range []struct {
		name, changelog, want string
		prepare               func(root string)
	}{
		{"ready", "# Changelog\n\n## [Unreleased]\n\n" + part, "", nil},
		{"changes that the notes would lack", "## [Unreleased]\n\n- Other.\n\n" + part, "has no part for v0.2.0", nil},
		{"no part", "## [Unreleased]\n\n" + strings.ReplaceAll(part, "0.2.0", "0.3.0"), "has no part for v0.2.0", nil},
		{"no date", "## [Unreleased]\n\n## [0.2.0]\n\n- More.\n", "has no part for v0.2.0", nil},
		{"an empty part", "## [Unreleased]\n\n" + strings.Replace(part, "- More,\n  and more.\n", "", 1), "has no part for v0.2.0", nil},
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
		notes, err := check(root, "v0.2.0", true)
		if got := fmt.Sprint(err); err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: error %s, want %q", c.name, got, c.want)
		}
		if err == nil && !strings.HasSuffix(notes, "```\n\n- More, and more.\n") {
			t.Errorf("%s: the notes are %q", c.name, notes)
		}
	}
}

// A dry run before the changelog has its heading has the notes of what is unreleased; where that is nothing, it says so.
func TestDryRunTakesUnreleasedChanges(t *testing.T) {
	for changelog, want := range map[string]string{
		"## [Unreleased]\n\n- Other.\n\n## [0.1.0] - 2026-11-01\n\n- All.\n": "```\n\n- Other.\n",
		"## [Unreleased]\n\n## [0.1.0] - 2026-11-01\n\n- All.\n":             "",
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "CHANGELOG.md"), []byte(changelog), 0o600); err != nil {
			t.Fatal(err)
		}
		newRepository(t, root)
		notes, err := check(root, "v0.2.0", false)
		if want == "" && (err == nil || !strings.Contains(err.Error(), "has no part for v0.2.0")) {
			t.Errorf("error %v for nothing unreleased", err)
		}
		if want != "" && (err != nil || !strings.HasSuffix(notes, want)) {
			t.Errorf("the notes are %q, error %v", notes, err)
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
	err := files(context.Background(), os.Environ(), ".", t.TempDir(), "v0.1.0", []string{"linux"})
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
