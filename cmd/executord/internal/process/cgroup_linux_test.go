package process

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// helperCgroup makes the test binary one that was started in a cgroup which is delegated to it.
const helperCgroup = "PROCESS_TEST_CGROUP"

// cgroup makes a cgroup that was delegated, and returns its directory.
func cgroup(t *testing.T) string {
	t.Helper()
	root, ok := place{}, false
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err == nil {
		for line := range strings.Lines(string(mounts)) {
			if before, after, _ := strings.Cut(line, " - "); strings.HasPrefix(after, "cgroup2 ") {
				root, ok = place{dir: strings.Fields(before)[4]}, true
			}
		}
	}
	if !ok {
		t.Skip("there are no cgroups of version 2")
	}
	dir := filepath.Join(root.dir, "executord-test-"+strings.ToLower(t.Name()))
	os.Remove(dir)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0)
		for end := time.Now().Add(5 * time.Second); os.Remove(dir) != nil && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	})
	if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil {
		t.Skip(err) // a kernel before 5.14
	}
	return dir
}

// Only a cgroup that was delegated is used, or the root of the container.
func TestEncloseOnlyWhereDelegated(t *testing.T) {
	dir := cgroup(t)
	if e := encloseIn(dir, false); e != nil {
		e.remove()
		t.Error("a cgroup was used that nobody has delegated")
	}
	if e := encloseIn(filepath.Dir(dir), true); e != nil {
		e.remove()
		t.Error("the root of the machine was used")
	}
	e := encloseIn(dir, true)
	if e == nil {
		t.Fatal("the root of a container was not used")
	}
	e.remove()
	if err := unix.Setxattr(dir, "trusted.delegate", []byte("1"), 0); err != nil {
		t.Skip(err)
	}
	if e = encloseIn(dir, false); e == nil {
		t.Fatal("a cgroup that was delegated was not used")
	}
	e.remove()
	if left, _ := filepath.Glob(dir + "/executord-*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// What is in an enclosure is killed in one step, also what has left its group, ignores signals and goes on forking.
func TestEnclosureKill(t *testing.T) {
	e := encloseIn(cgroup(t), true)
	if e == nil {
		t.Skip("no process can be started in the cgroup")
	}
	defer e.remove()
	up := filepath.Join(t.TempDir(), "up")
	cmd := exec.Command("sh", "-c", `trap "" TERM HUP; setsid sh -c 'trap "" TERM; : >`+up+`; f() { sleep 0.01; f & }; f; f' & wait; sleep 1000`)
	cmd.SysProcAttr = newGroup()
	e.put(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(up); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	e.kill()
	cmd.Wait()
	if signal := signalOf(cmd.ProcessState.Sys().(syscall.WaitStatus)); signal != "SIGKILL" {
		t.Errorf("it ended by %q", signal)
	}
	for { // the kernel has decided by now
		procs, err := os.ReadFile(filepath.Join(e.dir, "cgroup.procs"))
		if err != nil || len(procs) == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
}

// A supervisor in a cgroup that was delegated to it starts commands in one of their own, ends what is left in it, and
// removes it.
func TestSupervisorUsesCgroup(t *testing.T) {
	if os.Getenv(helperCgroup) != "" {
		s := New(10 * time.Millisecond)
		stop := s.Adopt()
		r := newRecord()
		s.Run(t.Context(), outlived(t, `trap "" TERM; cat /proc/self/cgroup; : >"$UP"; sleep 1000 & wait`), r.observer())
		if !strings.Contains(r.String(), "/executord-") {
			t.Errorf("the command ran in %q", r)
		}
		if _, survivors := s.EndStrays(); len(survivors) > 0 {
			t.Errorf("survivors: %v", survivors)
		}
		stop()
		return
	}
	dir := cgroup(t)
	if err := unix.Setxattr(dir, "trusted.delegate", []byte("1"), 0); err != nil {
		t.Skip(err)
	}
	at, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), helperCgroup+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(at.Fd())}
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS")) {
		t.Errorf("%v\n%s", err, out)
	}
	if left, _ := filepath.Glob(dir + "/executord-*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// The cgroup is found by what the kernel says, in a tree of both versions, too.
func TestOwnCgroup(t *testing.T) {
	const unified = "25 1 0:23 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
	for _, test := range []struct {
		cgroups, mounts string
		want            place
	}{
		{"0::/system.slice/x.service\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			place{"/sys/fs/cgroup/system.slice/x.service", false}},
		{"9:name=systemd:/a\n0::/\n", "24 1 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n" + unified,
			place{"/sys/fs/cgroup/unified", true}},
		{"9:name=systemd:/\n", unified, place{}},
		{"0::/../x\n", unified, place{}},
		{"0::/x\n", "30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n", place{}},
	} {
		dir := t.TempDir()
		cgroups, mounts := filepath.Join(dir, "cgroup"), filepath.Join(dir, "mountinfo")
		os.WriteFile(cgroups, []byte(test.cgroups), 0o600)
		os.WriteFile(mounts, []byte(test.mounts), 0o600)
		if got, ok := ownCgroup(cgroups, mounts); got != test.want || ok != (test.want != place{}) {
			t.Errorf("%q: %+v, %t; want %+v", test.cgroups, got, ok, test.want)
		}
	}
}
