//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/executor-go/executor/cmd/executord/internal/exposure"
	"github.com/executor-go/executor/cmd/executord/internal/job"
)

// A job file, a file of its jobs or a store that others may write to is used, and check and run say which users may, with
// a hint; run says it again of the files that it reads again.
func TestExposedToAllUsers(t *testing.T) {
	env, secret, store := write(t, "env", "A=b\n"), write(t, "secret", "value\n"), newStoreFile(t)
	tab := write(t, "tab", "# env_file: "+env+"\n# secret: S="+secret+"\n@daily true\n")
	if _, err := here("migrate", "--store", store); err != nil {
		t.Fatal(err)
	}
	names := []string{tab, env, secret, store}
	for _, name := range names {
		if err := os.Chmod(name, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file, read, err := sourcesOf(tab).parse(true, false)
	if err != nil {
		t.Fatal(err)
	}
	noteAll(&file, job.Machine{}, exposure.Of(read, store))
	for i, name := range names {
		want := name + ": " + exposure.What + ": all users may write to it\n    -rw-rw-rw-\n    hint: " + exposure.Hint
		if len(file.Notes) != len(names) || file.Notes[i].String() != want {
			t.Errorf("notes %v, want %q", file.Notes, want)
		}
	}

	p := startFile(t, tab, "--store", store)
	p.until("job scheduled")
	p.signal(syscall.SIGHUP)
	p.until("file read again")
	p.end()
	p.want(1, exposure.What, "file", store, "mode", "-rw-rw-rw-")
	for _, name := range names[:3] {
		p.want(2, exposure.What, "file", name, "hint", exposure.Hint)
	}
}

// Root uses no file with users in its lines that others may write to, nor one that such a user has linked, as cron does
// not; of a directory, the other files run.
func TestDirOfRootRefusesFilesOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away, and has to refuse them")
	}
	names := files(t, "mine", "@daily root true\n", "open", "@daily root true\n")
	target, link := write(t, "target", "@daily root true\n"), names[0]+"_link"
	for _, err := range []error{os.Chmod(names[1], 0o666), os.Symlink(target, link), os.Lchown(link, 4711, 0)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const refused = ":1: root does not run the jobs of this file, as cron does not: "
	dir := dirOf(filepath.Dir(names[0]))
	wantMistakes(t, dir, false, link+refused+"it is a link that belongs to user 4711\n    hint: "+exposure.Hint, names[1]+refused+"all users may write to it")
	if file, _, told, _, err := dir.usable(false, false); err != nil || len(file.Jobs) != 1 || file.Jobs[0].Name != "mine/true" || len(told) != 2 {
		t.Errorf("%v, jobs %v, refused %v", err, file.Jobs, told)
	}
	system := sourcesOf(names[1])
	system.format.value = "system"
	wantMistakes(t, system, false, names[1]+refused+"all users may write to it")
}
