// Release makes a release of the modules of this repository:
//
//	go run ./tests/release v0.1.0          makes it, and pushes it to the branch main of origin
//	go run ./tests/release -n v0.1.0       makes it, and lists what it would push
//	go run ./tests/release -files v0.1.0   builds the files of a version that is published into dist
//
// It works in a clone, so the working tree stays as it is. There the modules require each
// other by the version, go.sum gets the hashes of their zips, and one commit gets the tags of
// all. The zips are used as users will use them, from a module proxy in a directory:
// each library is added to a new module, and the daemon is installed, asked for its version
// and built for all systems.
//
// The last tag starts .github/workflows/release.yml, which builds the files from what is
// published, and publishes them.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"

	"github.com/executor-go/executor/tests/internal/site"
)

func main() {
	dry := flag.Bool("n", false, "push nothing")
	published := flag.Bool("files", false, "build the files of a version that is published, and do nothing else")
	systems := flag.String("systems", common, "the systems to build for")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	version, list := flag.Arg(0), strings.Split(*systems, ",")
	switch {
	case semver.Canonical(version) != version || version == "":
		err = fmt.Errorf("%q is not a version; write it as v0.1.0, after the flags", version)
	case *published:
		err = fromPublished(ctx, ".", "dist", version, list)
	default:
		_, err = release(ctx, ".", version, list, !*dry)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release makes a release of the tree's last commit, and pushes it. It returns the site, in whose directory Work the
// clone is, with the files in dist.
func release(ctx context.Context, tree, version string, systems []string, push bool) (*site.Site, error) {
	notes, err := check(tree, version, push)
	if err != nil {
		return nil, err
	}
	s, err := site.New(ctx)
	if err != nil {
		return nil, err
	}
	clone := filepath.Join(s.Work, "clone")
	dist := distOf(s)
	step("a clone in %s", clone)
	if err := cloneTree(tree, clone); err != nil {
		return nil, err
	}
	step("the modules at %s", version)
	mods, err := commit(s, clone, version)
	if err != nil {
		return nil, err
	}
	step("the libraries in a new module")
	if err := s.Use(mods); err != nil {
		return nil, err
	}
	step("the daemon")
	if err := s.Install(mods[len(mods)-1]); err != nil {
		return nil, err
	}
	step("the daemon for %s, and its image", strings.Join(systems, ", "))
	if err := files(ctx, s.Env, clone, dist, version, systems); err != nil {
		return nil, err
	}
	if err := packages(ctx, clone, version, systems); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dist, "notes.md"), []byte(notes), 0o644); err != nil {
		return nil, err
	}
	if err := list(clone, dist); err != nil {
		return nil, err
	}
	return s, pushAll(clone, mods, push)
}

// distOf returns the directory of the files of a release: in the clone, where git ignores it.
func distOf(s *site.Site) string { return filepath.Join(s.Work, "clone", "dist") }

// packages adds the packages for Debian and Fedora to the files in a clone, as the workflow of a release does.
func packages(ctx context.Context, clone, version string, systems []string) error {
	args := []string{"run", "./tests/packages", "-version", version}
	given := len(args)
	for _, system := range systems {
		if strings.HasPrefix(system, "linux/") {
			args = append(args, system)
		}
	}
	if len(args) == given {
		return nil
	}
	step("the packages for Debian and Fedora")
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = clone
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go run ./tests/packages: %w\n%s", err, out)
	}
	return nil
}

func step(format string, args ...any) { fmt.Printf("── "+format+"\n", args...) }

// check returns the notes of a release, if the tree is ready for it. If nothing will be pushed, the changelog may lack
// its heading.
func check(tree, version string, push bool) (notes string, err error) {
	changed, err := git(tree, "status", "--porcelain")
	if err != nil {
		return "", err
	}
	if changed != "" {
		return "", fmt.Errorf("the working tree differs from its last commit; commit, ignore or remove:\n%s", changed)
	}
	tags, err := git(tree, "tag", "--list", version, "*/"+version)
	if err != nil {
		return "", err
	}
	if tags != "" {
		return "", fmt.Errorf("%s was released already: it has the tags %s; a published tag is never moved, take the next version",
			version, strings.Join(strings.Fields(tags), ", "))
	}
	return notesOf(tree, version, push)
}

// install is the beginning of the notes of a version: how to get it, and how to check what was downloaded.
const install = "```sh\n" +
	"go get " + site.CorePath + "@%[1]s\n" +
	"go install " + daemonPath + "@%[1]s\n" +
	"docker pull " + published + ":%[2]s\n" +
	"sha256sum --check --ignore-missing SHA256SUMS                             # the files that were downloaded\n" +
	"gh attestation verify executord-linux-amd64 --repo executor-go/executor   # where one was built\n" +
	"```\n"

// notesOf returns the notes of a release, from the changelog. An item of a list becomes one line, since GitHub shows
// each end of a line in notes. If nothing will be pushed and the version has no heading, they are what is unreleased.
func notesOf(tree, version string, push bool) (string, error) {
	text, err := os.ReadFile(filepath.Join(tree, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	number := strings.TrimPrefix(version, "v")
	_, rest, _ := strings.Cut("\n"+string(text), "\n## [Unreleased]\n")
	heading := regexp.MustCompile(`^\s*## \[` + regexp.QuoteMeta(number) + `\] - \d{4}-\d\d-\d\d\n`).FindString(rest)
	changes, _, _ := strings.Cut(rest[len(heading):], "\n## [")
	changes = strings.TrimSpace(changes)
	switch {
	case heading == "" && changes != "" && !push:
		step("CHANGELOG.md has no part for %s yet: the notes are what is under [Unreleased]", version)
	case heading == "" || changes == "":
		return "", fmt.Errorf("CHANGELOG.md has no part for %s; put a heading such as %q right below %q, over what has changed",
			version, "## ["+number+"] - 2006-01-02", "## [Unreleased]")
	}
	changes = regexp.MustCompile(`\n +([^ -])`).ReplaceAllString(changes, " $1")
	return fmt.Sprintf(install, version, number) + "\n" + changes + "\n", nil
}

// cloneTree clones the last commit of a tree into a directory, with the name and address of who commits.
func cloneTree(tree, dir string) error {
	if _, err := git(".", "clone", "--quiet", "--no-tags", tree, dir); err != nil {
		return err
	}
	for _, key := range []string{"user.name", "user.email", "remote.origin.url"} {
		if value, err := git(tree, "config", key); err == nil {
			if _, err := git(dir, "config", key, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// commit commits the release, publishes the modules at the site, and tags them.
func commit(s *site.Site, clone, version string) ([]site.Module, error) {
	cmd := exec.Command(filepath.Join("scripts", "version"), version)
	cmd.Dir = clone
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("scripts/version: %w\n%s", err, out)
	}
	mods, err := site.Modules(clone)
	if err != nil {
		return nil, err
	}
	s.Serve()
	for _, m := range mods {
		// Each has the hashes of those before it, which are published by now.
		if err := s.Command(filepath.Join(clone, m.Dir), "go", "mod", "tidy"); err != nil {
			return nil, err
		}
		if err := s.Publish(m); err != nil {
			return nil, err
		}
	}
	number := strings.TrimPrefix(version, "v")
	if _, err := git(clone, "commit", "--quiet", "--all", "--message", "release: "+number); err != nil {
		return nil, err
	}
	for _, m := range mods {
		if _, err := git(clone, "tag", "--annotate", m.Tag(), "--message", m.Path+" "+number); err != nil {
			return nil, err
		}
		if err := same(s, clone, m); err != nil {
			return nil, err
		}
	}
	return mods, nil
}

// same returns an error if the zip that the go command will make of a tag is not that of the site, of which others have
// the hash in go.sum.
func same(s *site.Site, clone string, m site.Module) error {
	var b bytes.Buffer
	dir := m.Dir
	if dir == "." {
		dir = ""
	}
	if err := zip.CreateFromVCS(&b, m.Version, clone, m.Tag(), dir); err != nil {
		return err
	}
	tagged := filepath.Join(s.Work, "tagged.zip")
	if err := os.WriteFile(tagged, b.Bytes(), 0o666); err != nil {
		return err
	}
	want, err := dirhash.HashZip(tagged, dirhash.DefaultHash)
	if err != nil {
		return err
	}
	served, err := s.Zip(m)
	if err != nil {
		return err
	}
	got, err := dirhash.HashZip(served, dirhash.DefaultHash)
	if err == nil && got != want {
		err = fmt.Errorf("the zip of the tag %s has the hash %s, and that of the working tree %s", m.Tag(), want, got)
	}
	return err
}

// list prints the commit, the files and the notes of the release.
func list(clone, dist string) error {
	commit, err := git(clone, "show", "--stat", "--format=%h %s")
	if err != nil {
		return err
	}
	step("the commit")
	fmt.Println(commit)
	step("the files in %s", dist)
	entries, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Printf("%10d  %s\n", info.Size(), e.Name())
	}
	return nil
}

// pushAll pushes the commit and the tags, or only prints the commands. Each tag is pushed alone, in
// order: who finds a module finds what it requires, and GitHub starts no workflow for tags if
// more than three come at once.
func pushAll(clone string, mods []site.Module, push bool) error {
	refs := []string{"HEAD:refs/heads/main"}
	for _, m := range mods {
		refs = append(refs, "refs/tags/"+m.Tag())
	}
	if push {
		step("pushes")
	} else {
		step("would push, and has not")
	}
	for i, ref := range refs {
		fmt.Println("git push origin", ref)
		if !push {
			continue
		}
		if _, err := git(clone, "push", "--quiet", "origin", ref); err != nil {
			return fmt.Errorf("%w\nwhen it is mended, push what is left from %s: %s", err, clone, strings.Join(refs[i:], " "))
		}
	}
	return nil
}

// git runs git in a directory and returns what it prints.
func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", args[0], err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
