//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/executor-go/executor/tests/internal/dockerfile"
)

// rootVariable has the root of an image, which the process runs in place of the tests. It is alone in its namespaces.
const rootVariable = "EXECUTORD_TEST_IMAGE_ROOT"

// image is an image whose root is in a directory.
type image struct {
	dockerfile.Image
	root     string
	uid, gid uint32
}

// readImage reads how the image is run, whose root is yet to be made.
func readImage() (i image, err error) {
	if i.Image, err = dockerfile.Read("../../packaging/Dockerfile"); err == nil {
		_, err = fmt.Sscanf(i.User, "%d:%d", &i.uid, &i.gid)
	}
	return i, err
}

// command returns a command in a container of the image, as process 1 if it is to be.
func (i image) command(first bool, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = i.Dir, i.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot: i.root, Credential: &syscall.Credential{Uid: i.uid, Gid: i.gid}, Pdeathsig: syscall.SIGKILL,
	}
	if first {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID
	}
	return cmd
}

// The image from packaging/Dockerfile, which has no shell, runs as it is, and as its page says: a job that is a request
// runs and is kept in /data, the health check knows the daemon from none, and the end is orderly.
func TestImageRuns(t *testing.T) {
	if os.Getenv("EXECUTOR_LONG") == "" {
		t.Skip("it builds executord")
	}
	needNamespace(t)
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat("/etc/ssl/certs/ca-certificates.crt"); err != nil {
		t.Skip("the package ca-certificates is missing:", err)
	}
	dir, err := dist()
	if err != nil {
		t.Fatal(err)
	}
	i, err := readImage()
	if err != nil || i.uid == 0 || len(i.Health.Command) == 0 {
		t.Fatal(i, err)
	}
	page, err := os.ReadFile("../../docs/how-to/docker.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?s)docker run -d [^\n]*(?:\\\n[^\n]*)*? executord (run .*?[^\\])\n`).FindSubmatch(page)
	if shown == nil {
		t.Fatal("docs/how-to/docker.md does not show how the image is run")
	}
	for name, arguments := range map[string][]string{
		"as it is": i.Arguments, "as its page says": strings.Fields(strings.ReplaceAll(string(shown[1]), "\\\n", " ")),
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "root")
			make := exec.Command("../../packaging/image-root", root, filepath.Join(dir, "executord-linux-"+runtime.GOARCH))
			if out, err := make.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if err := os.Chown(filepath.Join(root, "data"), int(i.uid), int(i.gid)); err != nil { // COPY --chown
				t.Fatal(err)
			}
			inside := exec.Command("unshare", append([]string{"--mount", "--pid", "--net", "--fork", "--kill-child", "--propagation", "private",
				"sh", "-c", `ip link set lo up && exec "$0" "$@"`, os.Args[0]}, arguments...)...)
			inside.Env = append(os.Environ(), rootVariable+"="+root)
			if out, err := inside.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			var stat syscall.Stat_t
			if err := syscall.Stat(filepath.Join(root, "data", "jobs.db"), &stat); err != nil || stat.Uid != i.uid {
				t.Errorf("the store belongs to %d, error %v", stat.Uid, err)
			}
		})
	}
}

// runImage runs the image of a root, with arguments, among namespaces of its own.
func runImage(root string, arguments []string) error {
	i, err := readImage()
	if err != nil {
		return err
	}
	i.root = root
	// What a runtime makes.
	for _, m := range []struct {
		name, from, kind string
		flags            uintptr
	}{
		{"proc", "proc", "proc", 0}, {"dev", "/dev", "", syscall.MS_BIND | syscall.MS_REC},
	} {
		dir := filepath.Join(root, m.name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount(m.from, dir, m.kind, m.flags, ""); err != nil {
			return err
		}
	}
	// What its user brings.
	for name, text := range map[string]string{
		"jobs.toml": "[[job]]\nname = \"ask\"\nschedule = \"@every 100ms\"\nurl = \"http://127.0.0.1:8384/healthz\"\ntimezone = \"Europe/Berlin\"\n",
		"token":     "a-token-of-a-test-1234\n",
	} {
		if err := os.WriteFile(filepath.Join(root, "etc", "executord", name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if out, err := i.command(false, i.Health.Command...).CombinedOutput(); err == nil {
		return fmt.Errorf("the health check finds a daemon that is not there: %s", out)
	}
	daemon := i.command(true, slices.Concat(i.Entrypoint, arguments)...)
	log, err := daemon.StdoutPipe()
	if err != nil {
		return err
	}
	daemon.Stderr = os.Stderr
	if err := daemon.Start(); err != nil {
		return err
	}
	// The first run, or what is logged in its place, says whether jobs can be run.
	lines, over, ran := bufio.NewScanner(log), false, false
	for !over && lines.Scan() {
		fmt.Println(lines.Text())
		over = strings.Contains(lines.Text(), `"msg":"run ended"`) || strings.Contains(lines.Text(), `"msg":"run not started"`)
		ran = strings.Contains(lines.Text(), `"outcome":"ok"`)
	}
	if !ran {
		return errors.New("the job has not run") // the daemon ends with this process, which is the first
	}
	go io.Copy(io.Discard, log) // until the daemon ends
	if out, err := i.command(false, i.Health.Command...).CombinedOutput(); err != nil {
		return fmt.Errorf("the health check: %w\n%s", err, out)
	}
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return daemon.Wait()
}

// An image that is run names what is missing, and not more than it has: a user with a name, authorities, no shell.
func TestImageRootHasLittle(t *testing.T) {
	if _, err := os.Stat("/etc/ssl/certs/ca-certificates.crt"); err != nil {
		t.Skip("the package ca-certificates is missing:", err)
	}
	root := filepath.Join(t.TempDir(), "root")
	if out, err := exec.Command("../../packaging/image-root", root, "/bin/true").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var names []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimPrefix(path, root))
		}
		return err
	})
	want := []string{"/etc/executord/LICENSE", "/etc/executord/jobs.toml", "/etc/group", "/etc/passwd", "/etc/ssl/certs/ca-certificates.crt", "/usr/bin/executord"}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, want %q, error %v", names, want, err)
	}
	i, err := readImage()
	users, errUsers := os.ReadFile(filepath.Join(root, "etc", "passwd"))
	if err := errors.Join(err, errUsers); err != nil || !strings.Contains(string(users), ":"+strconv.Itoa(int(i.uid))+":"+strconv.Itoa(int(i.gid))+":") {
		t.Errorf("%d:%d has no name in %q, error %v", i.uid, i.gid, users, err)
	}
}
