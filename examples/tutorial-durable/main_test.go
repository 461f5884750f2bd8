package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/durabletest"
)

func TestMain(m *testing.M) {
	if os.Getenv("RUN_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is a run of the program, as a process of its own.
type program struct {
	t       *testing.T
	process *os.Process
	wait    func() error
	log     *bufio.Scanner
	url     string
}

func start(t *testing.T, db, takes string) *program {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-listen", "127.0.0.1:0", "-db", db, "-takes", takes)
	cmd.Env = append(os.Environ(), "RUN_MAIN=1")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	p := &program{t, cmd.Process, cmd.Wait, bufio.NewScanner(log), ""}
	line := p.until("http://")
	p.url = strings.TrimSuffix(line[strings.Index(line, "http://"):], "/executor/")
	return p
}

// until reads the log until there is a line with the text, and returns that.
func (p *program) until(text string) string {
	p.t.Helper()
	for p.log.Scan() {
		if strings.Contains(p.log.Text(), text) {
			return p.log.Text()
		}
	}
	p.t.Fatalf("the program ended without %q in its log", text)
	return ""
}

// A mail that was in progress when the program was killed is sent after the next start.
func TestProgramSendsAfterKill(t *testing.T) {
	db := filepath.Join(t.TempDir(), "mail.db")
	first := start(t, db, "1h")
	response, err := http.PostForm(first.url+"/signup", url.Values{"to": {"ann@example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 202 {
		t.Errorf("status %d, want 202", response.StatusCode)
	}
	first.until("ann@example.org: attempt 1")
	first.process.Kill()
	first.wait()

	second := start(t, db, "1ms")
	second.until("ann@example.org: attempt ")
	second.until("ann@example.org: sent")
	response, err = http.Get(second.url + "/executor/jobs")
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != 200 || !strings.Contains(string(page), "welcome/ann@example.org") {
		t.Errorf("status %d, %v, without the job:\n%s", response.StatusCode, err, page)
	}
	second.process.Signal(syscall.SIGTERM)
	if err := second.wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// A sign-up is one job however often it is made, a mail is sent in the third attempt if the server is busy, and what is
// no address is given up at once.
func TestSignupAddsJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := durabletest.New(t)
		handler := signup(durable.Handle(jobs, "mail", send(5*time.Second)))
		durabletest.Start(t, jobs)
		ids := make(map[string]durable.ID)
		for _, to := range []string{"ann@example.org", "ann@example.org", "bob@busy.example", "carl"} {
			r := httptest.NewRequest("POST", "/signup", strings.NewReader(url.Values{"to": {to}}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			w := httptest.NewRecorder()
			handler(w, r)
			id, err := durable.ParseID(strings.TrimSpace(w.Body.String()))
			if w.Code != 202 || err != nil {
				t.Fatalf("%s: status %d, %v", to, w.Code, err)
			}
			if before, ok := ids[to]; ok && before != id {
				t.Errorf("%s has the jobs %v and %v, want one", to, before, id)
			}
			ids[to] = id
		}
		mails := durable.KindOf[Mail, Receipt](jobs, "mail")
		for _, to := range []string{"ann@example.org", "bob@busy.example"} {
			if receipt, err := mails.Await(context.Background(), ids[to]); err != nil || receipt.Sent.IsZero() {
				t.Errorf("%s: %v, %v; want a receipt", to, receipt, err)
			}
		}
		for to, want := range map[string]int{"ann@example.org": 1, "bob@busy.example": 3, "carl": 1} {
			job, err := jobs.Get(t.Context(), ids[to])
			if err != nil || job.Attempt != want {
				t.Errorf("%s: attempt %d, %v; want %d", to, job.Attempt, err, want)
			}
		}
		if job, _ := jobs.Get(t.Context(), ids["carl"]); job.State != durable.Dead {
			t.Errorf("the job without an address is %v, want %v", job.State, durable.Dead)
		}
	})
}
