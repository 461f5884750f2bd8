//go:build linux

package faults

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/executor-go/executor/durable/internal/history"
)

// patroniFile is what each Patroni is told, by the page about it. Its numbers are those of the machine: from 0.
const patroniFile = `
scope: jobs
name: n%[1]d
restapi: {listen: "%[2]s", connect_address: "%[2]s"}
etcd3: {hosts: "%[3]s"}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 200, wal_log_hints: "on"}
  initdb: [{encoding: UTF8}, {locale: C}]
  pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust", "local all all trust"]
postgresql:
  listen: "%[4]s"
  connect_address: "%[4]s"
  data_dir: %[5]s/data%[1]d
  bin_dir: %[6]s
  pgpass: %[5]s/pgpass%[1]d
  authentication: {superuser: {username: postgres, password: x}, replication: {username: rep, password: x}, rewind: {username: rew, password: x}}
  parameters: {unix_socket_directories: "%[5]s"}
`

// patroni is three machines on loopback, each with a PostgreSQL, a Patroni and an etcd.
type patroni struct {
	t         *testing.T
	dir       string
	rest      [3]string // the addresses of Patroni
	databases [3]string
	etcds     [3]*exec.Cmd
	patronis  [3]*exec.Cmd
	owner     *syscall.Credential // PostgreSQL declines to run as root
}

// startPatroni starts them, and waits until one leads and another has all that is committed. They end with the test.
func startPatroni(t *testing.T) *patroni {
	t.Helper()
	for _, name := range []string{"patroni", "etcd"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err, "; on Debian: apt-get install patroni etcd-server")
		}
	}
	bin, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bin) == 0 {
		t.Skip("PostgreSQL of Debian's package is not here")
	}
	p := &patroni{t: t}
	if p.dir, err = os.MkdirTemp("", "patroni"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(p.dir) })
	if os.Getuid() == 0 {
		u, err := osuser.Lookup("postgres")
		if err != nil {
			t.Skip(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		p.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(p.dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	var peers, clients [3]string
	var members []string
	for i := range 3 {
		for _, address := range []*string{&peers[i], &clients[i], &p.rest[i], &p.databases[i]} {
			*address = freeAddress(t)
		}
		members = append(members, fmt.Sprintf("n%d=http://%s", i, peers[i]))
	}
	for i := range 3 {
		client, peer := "http://"+clients[i], "http://"+peers[i]
		p.etcds[i] = p.start(fmt.Sprint("etcd", i), "etcd", "--name", fmt.Sprint("n", i), "--data-dir", fmt.Sprint(p.dir, "/etcd", i),
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--listen-client-urls", client,
			"--advertise-client-urls", client, "--initial-cluster", strings.Join(members, ","))
	}
	for i := range 3 {
		file := filepath.Join(p.dir, fmt.Sprintf("p%d.yml", i))
		text := fmt.Sprintf(patroniFile, i, p.rest[i], strings.Join(clients[:], ","), p.databases[i], p.dir, bin[len(bin)-1])
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p.patronis[i] = p.start(fmt.Sprint("patroni", i), "patroni", file)
	}
	for deadline := time.Now().Add(2 * time.Minute); p.having("/primary") < 0 || p.having("/sync") < 0; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(p.dir, "patroni0.log"))
			t.Fatalf("Patroni does not come to lead: %s", log[max(0, len(log)-2000):])
		}
	}
	return p
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start starts a program of its own group, that dies with the test.
func (p *patroni) start(log, name string, args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.owner, Setpgid: true}
	f, err := os.OpenFile(filepath.Join(p.dir, log+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	cmd.Stdout, cmd.Stderr = f, f
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	return cmd
}

// having returns the machine whose Patroni answers yes to a question, -1 if none does.
func (p *patroni) having(question string) int {
	client := http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	for i, address := range p.rest {
		if answer, err := client.Get("http://" + address + question); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return i
			}
		}
	}
	return -1
}

// dsn names all three.
func (p *patroni) dsn() string {
	return "postgres://postgres@" + strings.Join(p.databases[:], ",") + "/postgres?target_session_attrs=read-write&sslmode=disable"
}

// killDatabase kills the PostgreSQL that leads, which Patroni starts again.
func (p *patroni) killDatabase() error { return p.kill(p.having("/primary")) }

// kill kills the PostgreSQL of a machine, with all its processes.
func (p *patroni) kill(i int) error {
	text, err := os.ReadFile(fmt.Sprintf("%s/data%d/postmaster.pid", p.dir, i))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	children, err := os.ReadFile(fmt.Sprintf("/proc/%s/task/%[1]s/children", first))
	if err != nil {
		return err
	}
	for _, one := range append([]string{first}, strings.Fields(string(children))...) {
		pid, err := strconv.Atoi(one)
		if err != nil {
			return err
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// killMachine kills all of the machine that leads.
func (p *patroni) killMachine() error {
	i := p.having("/primary")
	return errors.Join(syscall.Kill(-p.patronis[i].Process.Pid, syscall.SIGKILL),
		syscall.Kill(-p.etcds[i].Process.Pid, syscall.SIGKILL), p.kill(i))
}

// switchOver has another machine lead, as for a planned restart.
func (p *patroni) switchOver() error {
	i := p.having("/primary")
	answer, err := http.Post("http://"+p.rest[i]+"/switchover", "application/json", strings.NewReader(fmt.Sprintf(`{"leader":"n%d"}`, i)))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// pause stops the Patroni that leads for a while. Its PostgreSQL goes on, and is no primary any more when it is back.
func (p *patroni) pause() error {
	group := -p.patronis[p.having("/primary")].Process.Pid
	err := syscall.Kill(group, syscall.SIGSTOP)
	time.Sleep(3 * time.Second)
	return errors.Join(err, syscall.Kill(group, syscall.SIGCONT))
}

// PostgreSQL behind Patroni, in its synchronous mode: the primary is killed, then changes by plan, then its Patroni stops
// for a while, then its machine is lost. The nodes go on by themselves, and no occurrence is lost, committed twice or begun early.
func TestHistoryBehindPatroni(t *testing.T) {
	if os.Getenv("EXECUTOR_LONG") == "" {
		t.Skip("takes many leases of real time")
	}
	p := startPatroni(t)
	f := newFleet(t, p.dsn())
	trial(t, f, 300, func() {
		f.start()
		f.start()
		f.start()
		f.reach(1)
		for _, fault := range []struct {
			name string
			of   func() error
		}{
			{"PostgreSQL killed", p.killDatabase}, {"switchover", p.switchOver}, {"Patroni stopped for 3 s", p.pause},
			{"machine killed", p.killMachine},
		} {
			time.Sleep(3 * time.Second)
			for p.having("/primary") < 0 || p.having("/sync") < 0 {
				time.Sleep(100 * time.Millisecond)
			}
			before := time.Now()
			if err := fault.of(); err != nil {
				t.Fatalf("%s: %v", fault.name, err)
			}
			time.Sleep(30 * time.Second) // longer than Patroni waits for a machine
			f.reach(f.occurrences() + 40)
			t.Logf("%s: nothing began for %v", fault.name, f.pauseSince(before).Round(10*time.Millisecond))
		}
	})
}

// pauseSince returns for how long nothing began since then.
func (f *fleet) pauseSince(then time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	since := []history.Start{{At: then}}
	for _, s := range f.record.Starts {
		if s.At.After(then) {
			since = append(since, s)
		}
	}
	return history.Pause(since)
}
