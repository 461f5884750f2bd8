//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var takenPorts sync.Map

// freeMember returns the address of a member on loopback. Its port, and that after it, are free, and of no range that the
// system takes ports from.
func freeMember(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := 10_000 + 2*rand.IntN(11_000)
		if _, taken := takenPorts.LoadOrStore(port, true); !taken && isFree(port) && isFree(port+1) {
			return fmt.Sprint("127.0.0.1:", port)
		}
	}
	t.Fatal("there are no free ports")
	return ""
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err == nil {
		l.Close()
	}
	return err == nil
}

// testCluster is three daemons on loopback, with certificates.
type testCluster struct {
	t     *testing.T
	dir   string
	tab   string
	hosts []string
}

func newTestCluster(t *testing.T, crontab string) *testCluster {
	c := &testCluster{t: t, dir: t.TempDir(), tab: write(t, "tab", crontab)}
	for range 3 {
		c.hosts = append(c.hosts, freeMember(t))
	}
	wantOutput(t, exitOK, "127.0.0.1: copy ", "cluster", "certificates", c.certificates(), "127.0.0.1")
	return c
}

func (c *testCluster) certificates() string { return filepath.Join(c.dir, "certificates") }

// data returns the directory of a member, which has certificates.
func (c *testCluster) data(name string) string {
	c.t.Helper()
	dir := filepath.Join(c.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Symlink(c.certificates(), filepath.Join(dir, "certificates")); err != nil && !os.IsExist(err) {
		c.t.Fatal(err)
	}
	return dir
}

// member are the flags of a member.
func (c *testCluster) member(host, data string) []string {
	return []string{"--cluster", strings.Join(c.hosts, ","), "--self", host, "--data", c.data(data)}
}

// start starts a member.
func (c *testCluster) start(host, data string) *process {
	c.t.Helper()
	return startFile(c.t, c.tab, append(c.member(host, data), "--lease", "1s", "--name", data)...)
}

// store names the cluster for commands.
func (c *testCluster) store() string {
	return "etcd://" + strings.Join(c.hosts, ",") + "?certificates=" + c.certificates()
}

// states returns the states of the members.
func (c *testCluster) states() string {
	c.t.Helper()
	stdout, stderr, _ := output(c.t, "", "cluster", "status", "--json", "--store", c.store())
	states := make(map[string]int)
	for in := json.NewDecoder(strings.NewReader(stdout)); in.More(); {
		var m clusterMember
		if err := in.Decode(&m); err != nil {
			c.t.Fatalf("%q, %q: %v", stdout, stderr, err)
		}
		states[m.State]++
	}
	text := fmt.Sprint(states)
	return strings.TrimSuffix(strings.TrimPrefix(text, "map["), "]")
}

// until waits until the members have such states.
func (c *testCluster) until(want string) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		got := c.states()
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("the members are %s, and do not come to be %s", got, want)
		}
	}
}

// wantOutput runs a command, and wants what it says.
func wantOutput(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	stdout, stderr, got := output(t, "", args...)
	if all := stdout + stderr; got != code || !strings.Contains(all, want) {
		t.Errorf("%q: exit code %d, %q; want %d, %q", args, got, all, code, want)
	}
}

// Of three daemons one is killed, and comes back: each due time runs once, or the log tells why not. The commands work
// meanwhile. A machine that is lost for good is replaced, and does not come back by itself.
func TestClusterOutlivesMembers(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	c := newTestCluster(t, "# name: tick\n@every 200ms echo $EXECUTORD_DUE >>"+out+"/tick\n# name: quiet\n@yearly true\n")
	all := []*process{c.start(c.hosts[0], "a"), c.start(c.hosts[1], "b")} // a majority is enough
	all[0].until("run ended", "job", "tick")
	all = append(all, c.start(c.hosts[2], "c"))
	all[2].until("run ended", "job", "tick")
	c.until("follows:2 leads:1")

	all[0].signal(syscall.SIGKILL)
	c.until("away:1 follows:1 leads:1") // commands wait for a leader, here for less than an election may take
	wantOutput(t, exitOK, "quiet: run 1: ok", "run-now", "quiet", "--wait", "--store", c.store())
	wantAnswer(t, c.store(), exitOK, "quiet: paused", "pause", "quiet")
	wantOutput(t, exitOK, "executord:tab/quiet", "store", "list", "--store", c.store())
	untilState(t, c.store(), "quiet", "paused")
	again := c.start(c.hosts[0], "a")
	again.until("joining the cluster", "state", "it goes on with what it has")
	again.until("run ended", "job", "tick")
	c.until("follows:2 leads:1")

	lost, gone, fresh := all[2], c.hosts[2], freeMember(t)
	lost.signal(syscall.SIGKILL)
	<-lost.exited
	c.until("away:1 follows:1 leads:1")
	wantOutput(t, exitMistake, "c/etcd", append([]string{"cluster", "restore", c.tab}, c.member(gone, "c")...)...)
	wantOutput(t, exitOK, "start executord run --cluster on "+fresh, "cluster", "replace", gone, fresh, "--store", c.store())
	c.hosts[2] = fresh
	instead := c.start(fresh, "d")
	instead.until("run ended", "job", "tick")
	c.until("follows:2 leads:1")
	c.hosts[2] = gone
	wantOutput(t, exitMistake, "to have it come back, remove its data",
		append([]string{"run", c.tab}, c.member(gone, "c")...)...)
	c.hosts[2] = fresh

	all = append(all, again, instead)
	a, v, until := newClusterAccount(t, out, 200*time.Millisecond, "tick"), c.visit(), time.Now()
	for give := until.Add(patience); ; time.Sleep(100 * time.Millisecond) { // a busy machine may be behind
		for _, p := range all {
			for _, l := range p.taken() {
				a.hear(l)
			}
		}
		a.read(v) // a daemon that is killed may not have come to log what it has stored
		left := a.untold(v, until)
		if len(left) == 0 {
			break
		}
		if time.Now().After(give) {
			t.Fatal(left)
		}
	}
	if a.twice > 2 { // each daemon that was killed may have had one run, that is begun again
		t.Errorf("%d due times ran twice", a.twice)
	}
	for _, p := range []*process{all[1], again, instead} { // one after the other: the last ones are no majority
		p.end()
	}
	lost.wait()
	all[0].wait()
}

// A backup is restored on all members: the jobs are as they were then. A member on which it was not is refused.
func TestClusterRestoresBackup(t *testing.T) {
	t.Parallel()
	c := newTestCluster(t, "# name: a\n@yearly true\n# name: b\n@yearly true\n")
	startAll := func(data ...string) (all []*process) {
		for i, host := range c.hosts[:len(data)] {
			all = append(all, c.start(host, data[i]))
		}
		for _, p := range all {
			p.until("cluster joined")
		}
		return all
	}
	first := startAll("a", "b", "c")
	first[0].after(0, "job scheduled", "job", "b")
	wantAnswer(t, c.store(), exitOK, "a: paused", "pause", "a")
	file := filepath.Join(c.dir, "backup")
	wantOutput(t, exitOK, file+": ", "cluster", "backup", file, "--store", c.store())
	wantOutput(t, exitMistake, "is there already", "cluster", "backup", file, "--store", c.store())
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup has the mode %v, %v", info.Mode(), err)
	}
	wantAnswer(t, c.store(), exitOK, "b: paused", "pause", "b")
	for _, p := range first {
		p.signal(syscall.SIGTERM)
	}
	for _, p := range first {
		if code := p.wait(); code != exitOK {
			t.Errorf("exit code %d", code)
		}
	}
	for i, data := range []string{"a2", "b2"} {
		wantOutput(t, exitOK, "restored", append([]string{"cluster", "restore", file}, c.member(c.hosts[i], data)...)...)
	}
	wantOutput(t, exitMistake, "has data already", append([]string{"cluster", "restore", file}, c.member(c.hosts[0], "a")...)...)
	wantOutput(t, exitMistake, "can't be restored", append([]string{"cluster", "restore", c.tab}, c.member(c.hosts[2], "c2")...)...)
	second := startAll("a2", "b2")
	for job, want := range map[string]string{"a": "paused", "b": "waiting"} {
		untilState(t, c.store(), job, want)
	}
	wantOutput(t, exitMistake, "if nothing of those data is needed", append([]string{"run", c.tab}, c.member(c.hosts[2], "c")...)...)
	for _, p := range second {
		p.signal(syscall.SIGTERM)
	}
	for _, p := range second {
		if code := p.wait(); code != exitOK {
			t.Errorf("exit code %d", code)
		}
	}
}

// What is wrong with a cluster on the command line is said before anything happens, with what to do.
func TestClusterSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir, tab := t.TempDir(), write(t, "tab", "@yearly true\n")
	open := filepath.Join(dir, "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) []string { return append([]string{"run", tab}, args...) }
	two := "127.0.0.1:7001,127.0.0.1:7003"
	nobody := "etcd://127.0.0.1:1"
	for _, test := range []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "--cluster needs --data DIR", run("--cluster", two)},
		{exitUsage, "add --cluster HOST,HOST,HOST", run("--data", dir)},
		{exitUsage, "leave one of them out", run("--cluster", two, "--data", dir, "--store", "a.db")},
		{exitUsage, "must be HOST or HOST:PORT", run("--cluster", "a:b", "--data", dir)},
		{exitUsage, "must be HOST or HOST:PORT", run("--cluster", "a,,b", "--data", dir)},
		{exitMistake, "name by --self the one that this is", run("--cluster", two, "--data", dir+"/new")},
		{exitMistake, "--self \"127.0.0.1:7002\" is none of the members", run("--cluster", two, "--self", "127.0.0.1:7002", "--data", dir)},
		{exitMistake, "make certificates with executord cluster certificates DIR 192.0.2.1 192.0.2.2",
			run("--cluster", "192.0.2.1,192.0.2.2:7", "--data", dir)},
		{exitMistake, "name by --self", run("--store", "etcd://192.0.2.1?tls=off&data="+dir)},
		{exitMistake, "has no certificate of this machine", run("--store", "etcd://192.0.2.1?certificates="+dir+"&data="+dir)},
		{exitMistake, "is not a directory", run("--cluster", two, "--data", tab)},
		{exitMistake, "all users may write to it", run("--cluster", two, "--data", open)},
		{exitMistake, "add ?certificates=DIR", []string{"jobs", "--store", "etcd://192.0.2.1"}},
		{exitMistake, "x=y is unknown", []string{"jobs", "--store", "etcd://127.0.0.1?x=y"}},
		{exitMistake, "quota=1GB: it must be how many MiB", []string{"jobs", "--store", "etcd://127.0.0.1?quota=1GB"}},
		{exitMistake, "the store is no cluster", []string{"cluster", "status", "--store", "jobs.db"}},
		{exitUsage, "needs a cluster", []string{"cluster", "backup", "x"}},
		{exitUsage, "backup needs one FILE", []string{"cluster", "backup"}},
		{exitUsage, "replace needs two members", []string{"cluster", "replace", "a", "--store", nobody}},
		{exitUsage, "certificates needs a directory, and the hosts", []string{"cluster", "certificates", dir}},
		{exitMistake, "without a port", []string{"cluster", "certificates", dir + "/certs", "a:1"}},
		{exitUsage, "restore needs --cluster", []string{"cluster", "restore", "x"}},
		{exitMistake, "none of its members answers", []string{"cluster", "status", "--store", nobody}},
		{exitMistake, "none of its members answers", []string{"jobs", "--store", nobody}},
		{exitMistake, "is no cluster", []string{"cluster", "status", "--store", "postgres://me:" + password + "@127.0.0.1:1/x"}},
		{exitMistake, "is written as %25", []string{"jobs", "--store", "etcd://me:a/" + password + "@127.0.0.1:1"}},
		{exitMistake, "none of its members answers", []string{"jobs", "--store", "etcd://me:" + password + "@127.0.0.1:1"}},
	} {
		stdout, stderr, code := output(t, "", test.args...)
		if code != test.code || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: exit code %d, %q; want %d, %q", test.args, code, stderr, test.code, test.want)
		}
		hides(t, test.args[0], stdout+stderr)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", "etcd")); err != nil || len(left) > 0 {
		t.Errorf("something was written: %q, %v", left, err)
	}
}

// A backup replaces no file, even one that is made while the backup is.
func TestBackupReplacesNoFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "backup")
	_, err := writeNew(name, func(io.Writer) error { return os.WriteFile(name, []byte("theirs"), 0o600) })
	if err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("the error is %v", err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "theirs" {
		t.Errorf("the file has %q, %v", text, err)
	}
	if left, err := filepath.Glob(name + ".*"); err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
}

// A daemon and the commands for a cluster say that others may read the private key of the machine.
func TestClusterSaysOpenKey(t *testing.T) {
	t.Parallel()
	c := newTestCluster(t, "# name: quiet\n@yearly true\n")
	c.hosts = c.hosts[:1]
	key := filepath.Join(c.certificates(), "127.0.0.1.key")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("certificates makes a key with the mode %v, %v", info.Mode(), err)
	}
	p := c.start(c.hosts[0], "a")
	p.until("cluster joined")
	const what = "secret file is open to others"
	if stdout, stderr, _ := output(t, "", "cluster", "status", "--store", c.store()); strings.Contains(stdout+stderr, what) {
		t.Errorf("of a key with the mode 0600 it is said: %s%s", stdout, stderr)
	}
	p.end()
	p.want(0, what)
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	p = c.start(c.hosts[0], "a")
	p.until(what, "reason", "all users may read it")
	p.until("cluster joined")
	wantOutput(t, exitOK, key+": note: "+what+": all users may read it\n    -rw-r--r--\n    hint: chmod g-w,o= "+key,
		"cluster", "status", "--store", c.store())
	p.end()
}
