//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var distDir string // if it was made

// dist returns a directory with the program for this machine, and with its packages. It is made once.
var dist = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "packages-test"); err != nil {
		return "", err
	}
	distDir = dir
	if err := buildPrograms("../..", dir, []string{"linux/" + runtime.GOARCH}); err != nil {
		return dir, err
	}
	return dir, os.WriteFile(filepath.Join(dir, "NOTICES"), []byte("the licenses of others\n"), 0o644)
})

func TestMain(m *testing.M) {
	if os.Getenv(rootVariable) != "" || os.Getenv(podVariable) != "" {
		var err error
		if root := os.Getenv(podVariable); root != "" {
			err = runPod(root, os.Args[1])
		} else {
			err = runImage(os.Getenv(rootVariable), os.Args[1:])
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if distDir != "" {
		os.RemoveAll(distDir)
	}
	os.Exit(code)
}

// packages returns the names of the packages for this machine, by their format.
var packages = sync.OnceValues(func() (map[string]string, error) {
	dir, err := dist()
	if err != nil {
		return nil, err
	}
	names, err := build("../..", dir, "v0.1.0-rc.1", []string{"linux/" + runtime.GOARCH})
	found := make(map[string]string)
	for _, name := range names {
		found[strings.TrimPrefix(filepath.Ext(name), ".")] = filepath.Join(dir, name)
	}
	return found, err
})

// needPackages skips a test where there is no nfpm, since it comes from a module proxy.
func needPackages(t *testing.T) map[string]string {
	t.Helper()
	if os.Getenv("EXECUTOR_LONG") == "" {
		t.Skip("it builds executord and nfpm")
	}
	if _, err := nfpmTool(); err != nil {
		t.Skip(err)
	}
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Packages of one commit are equal, and their sums are listed beside those of other files.
func TestPackagesAreReproducible(t *testing.T) {
	first := needPackages(t)
	dir, _ := dist()
	again := t.TempDir()
	for _, name := range []string{"NOTICES", "executord-linux-" + runtime.GOARCH} {
		if err := copyFile(filepath.Join(dir, name), filepath.Join(again, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(again, "SHA256SUMS"), []byte("00  other\n00  executord_0.1.0-rc.1_"+runtime.GOARCH+".deb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	names, err := build("../..", again, "v0.1.0-rc.1", []string{"linux/" + runtime.GOARCH})
	if err != nil || len(names) != len(formats) {
		t.Fatal(names, err)
	}
	for _, name := range names {
		a, errA := os.ReadFile(first[strings.TrimPrefix(filepath.Ext(name), ".")])
		b, errB := os.ReadFile(filepath.Join(again, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: two builds differ, or have none: %v, %v", name, errA, errB)
		}
	}
	sums, err := os.ReadFile(filepath.Join(again, "SHA256SUMS"))
	if lines := strings.Count(string(sums), "\n"); err != nil || lines != 3 || !strings.HasPrefix(string(sums), "00  other\n") {
		t.Errorf("sums, error %v:\n%s", err, sums)
	}
	check := exec.Command("sha256sum", "--check", "--ignore-missing", "SHA256SUMS")
	check.Dir = again
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A package makes the user, whose service runs as its unit says, tells that it is ready, and can be looked at; an
// upgrade keeps what was written into files; a removal keeps that, and what jobs and executord have written, and so
// does a purge with the latter.
func TestPackageInstalls(t *testing.T) {
	all := needPackages(t)
	for format, tool := range map[string]string{"deb": "dpkg", "rpm": "rpm"} {
		t.Run(format, func(t *testing.T) {
			if _, err := exec.LookPath(tool); err != nil {
				t.Skip(err)
			}
			needNamespace(t)
			out := install(t, format, all[format])
			for _, want := range []string{
				"install systemctl: daemon-reload;",
				"user: /var/lib/executord:/usr/sbin/nologin",
				"root executord 750 /etc/executord",
				"root executord 640 /etc/executord/jobs.crontab",
				"executord executord 750 /var/lib/executord",
				"root root 755 /usr/bin/executord",
				"end: 0",
				"upgrade systemctl: daemon-reload;--no-block try-restart executord.service;",
				"jobs: 1",
				"user left: executord",
			} {
				if !strings.Contains(out, want+"\n") {
					t.Errorf("missing: %s", want)
				}
			}
			if !strings.Contains(out, "\nwho  @reboot  ") {
				t.Error("missing: the job, among those of the daemon")
			}
			if !strings.Contains(out, "remove systemctl: disable --now executord.service;daemon-reload;\n") {
				t.Error("missing: the end of the service")
			}
			config := map[string]string{
				"deb": "/etc/executord/environment /etc/executord/jobs.crontab /etc/executord/jobs.toml",
				"rpm": "/etc/executord/jobs.crontab.rpmsave", // what nobody has changed is gone
			}[format]
			if want := "left: " + config + " /var/lib/executord/jobs.db /var/lib/executord/made \n"; !strings.Contains(out, want) {
				t.Errorf("missing: %s", want)
			}
			if want := "left after a purge: /var/lib/executord/jobs.db /var/lib/executord/made \n"; format == "deb" && !strings.Contains(out, want) {
				t.Errorf("missing: %s", want)
			}
			if t.Failed() {
				t.Logf("of\n%s", out)
			}
		})
	}
}

// needNamespace skips a test where no mounts can be made that others do not see.
func needNamespace(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"unshare", "setpriv"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"u", "w", "r"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	try := exec.Command("unshare", "--mount", "--propagation", "private", "mount", "-t", "overlay", "overlay",
		"-o", "lowerdir=/,upperdir="+dir+"/u,workdir="+dir+"/w", dir+"/r")
	if out, err := try.CombinedOutput(); err != nil {
		t.Skipf("no copy of this machine can be made, for which one has to be root: %v %s", err, out)
	}
}

// install runs testdata/install.sh, sees the service begin and its job run, and returns what the script has printed.
func install(t *testing.T, format, name string) string {
	t.Helper()
	dir := t.TempDir()
	shared := filepath.Join(dir, "shared")
	if err := os.Mkdir(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	os.Chmod(shared, 0o777)
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(shared, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notify.Close()
	os.Chmod(filepath.Join(shared, "notify"), 0o777)
	ran := filepath.Join(shared, "ran")
	if err := syscall.Mkfifo(ran, 0o666); err != nil {
		t.Fatal(err)
	}
	os.Chmod(ran, 0o666)

	cmd := exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private",
		"sh", "testdata/install.sh", format, name, dir)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	begun, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	seen := make(chan string, 3)
	go func() {
		for _, want := range []string{"READY=1\n", "WATCHDOG=1"} {
			for buf := make([]byte, 4096); ; {
				n, err := notify.Read(buf)
				if err != nil {
					return
				}
				if strings.HasPrefix(string(buf[:n]), want) {
					break
				}
			}
			seen <- want
		}
	}()
	go func() {
		f, err := os.OpenFile(ran, os.O_RDWR, 0) // which waits for no writer, and has no end
		if err != nil {
			return
		}
		defer f.Close()
		buf := make([]byte, 4096)
		n, _ := f.Read(buf)
		seen <- string(buf[:n])
	}()
	limit := time.After(2 * time.Minute) // no claim: it ends a test that waits for nothing
	got := map[string]bool{}
	for len(got) < 3 {
		select {
		case what := <-seen:
			got[what] = true
		case err := <-ended:
			t.Fatalf("it ended before the service had begun: %v\n%s%s", err, out.String(), logOf(shared))
		case <-limit:
			cmd.Process.Kill()
			<-ended
			t.Fatalf("seen only %v\n%s%s", got, out.String(), logOf(shared))
		}
	}
	if !got["executord in /var/lib/executord\n"] {
		t.Errorf("the job has said %v", got)
	}
	io.WriteString(begun, "\n")
	if err := <-ended; err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), logOf(shared))
	}
	return out.String()
}

// logOf returns what the service has logged.
func logOf(shared string) string {
	text, _ := os.ReadFile(filepath.Join(shared, "log"))
	return string(text)
}

// A system that has no packages is an error, and so is a program that is not there.
func TestPackagesNameWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	for system, want := range map[string]string{"darwin/arm64": "packages for linux only", "linux/amd64": "by make dist, or with -build"} {
		if err := execute("../..", dir, "v0.1.0", false, []string{system}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", system, err)
		}
	}
}

// systemd reads the unit without a complaint, also with each drop-in of its page, and finds it better locked in than
// most.
func TestUnitIsRight(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip(err)
	}
	unit, err := os.ReadFile("../../packaging/executord.service")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "executord.service")
	verified := strings.NewReplacer("/usr/bin/executord", "/bin/true", "Documentation=man:executord(1)\n", "").Replace(string(unit))
	if err := os.WriteFile(name, []byte(verified), 0o644); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/how-to/systemd.md")
	if err != nil {
		t.Fatal(err)
	}
	dropIns := []string{""}
	for _, block := range regexp.MustCompile("(?ms)^```ini\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		dropIns = append(dropIns, strings.ReplaceAll(block[1], "/usr/bin/executord", "/bin/true"))
	}
	if len(dropIns) < 4 {
		t.Errorf("%d drop-ins in the page", len(dropIns)-1)
	}
	for _, text := range dropIns {
		os.Mkdir(name+".d", 0o755)
		if err := os.WriteFile(filepath.Join(name+".d", "override.conf"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(tool, "verify", name).CombinedOutput()
		if err != nil || strings.Contains(string(out), "executord.service") {
			t.Errorf("%s\n%v\n%s", text, err, out)
		}
	}
	os.RemoveAll(name + ".d")
	if out, err := exec.Command(tool, "security", "--offline=true", "--threshold=25", name).CombinedOutput(); err != nil {
		t.Errorf("exposed to more than 2.5 of 10: %v\n%s", err, out)
	}
}
