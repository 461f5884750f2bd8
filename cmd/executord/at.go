package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/executor-go/executor/cmd/executord/internal/certificate"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/job"
	"github.com/executor-go/executor/cmd/executord/internal/stores"
	"github.com/executor-go/executor/cmd/executord/internal/view"
	"github.com/executor-go/executor/cmd/executord/internal/web"
	"github.com/executor-go/executor/ui/page"
)

// defaultAt is the address at which a daemon is looked for. It is documented.
const defaultAt = "127.0.0.1:8384"

// atFlag is the flag --at, and what goes with it: the daemon that a command asks.
type atFlag struct {
	cmd       *cobra.Command
	at        string
	tokenFile string
	caFile    string
}

func newAtFlag(cmd *cobra.Command) *atFlag {
	f := &atFlag{cmd: cmd}
	cmd.Flags().StringVar(&f.at, "at", "", "ask the daemon that listens there: host:port, unix:/path or a URL; without a store, the default is "+defaultAt)
	cmd.Flags().StringVar(&f.caFile, "ca-file", "", "a file with the certificate of that daemon, or of its authority; the default is the authorities that this machine trusts")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "a file with the token of that daemon")
	return f
}

// chosen reports whether a daemon is to be asked, and not a store.
func (f *atFlag) chosen(store storeFlag) bool {
	return f.at != "" || store.name() == "" && store.checkNamed() == nil
}

// daemonClient asks a daemon.
type daemonClient struct {
	http  http.Client
	base  string
	shown string
	token string
}

// client returns the client of the daemon.
func (f *atFlag) client() (*daemonClient, error) {
	at := f.at
	if at == "" {
		at = defaultAt
	}
	c := &daemonClient{shown: at}
	transport := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true, ResponseHeaderTimeout: stores.Patience, MaxResponseHeaderBytes: 64 << 10,
	}
	var dialer = net.Dialer{Timeout: 5 * time.Second}
	switch path, isSocket := strings.CutPrefix(at, socketScheme); {
	case isSocket:
		c.base = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", path)
		}
	case strings.HasPrefix(at, "http://"), strings.HasPrefix(at, "https://"):
		c.base = strings.TrimSuffix(at, "/")
		transport.DialContext = dialer.DialContext
	default:
		if _, _, err := net.SplitHostPort(at); err != nil {
			return nil, fmt.Errorf("--at %s: it must be host:port as in %s, unix:/path, or a URL", at, defaultAt)
		}
		c.base = "http://" + at
		transport.DialContext = dialer.DialContext
	}
	if f.caFile != "" {
		at, err := url.Parse(c.base)
		if err != nil || at.Scheme != "https" {
			return nil, fmt.Errorf("--ca-file needs the URL of a daemon with TLS, such as --at https://%s", defaultAt)
		}
		if transport.TLSClientConfig, err = certificate.Trust(f.caFile, at.Hostname()); err != nil {
			return nil, &exitError{exitMistake, err.Error()}
		}
	}
	c.http.Transport = transport
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if f.tokenFile != "" {
		token, err := readToken(f.tokenFile)
		if err != nil {
			return nil, &exitError{exitMistake, err.Error()}
		}
		c.token = token
	}
	return c, nil
}

// get asks for a path of the daemon. The caller closes the answer.
func (c *daemonClient) get(ctx context.Context, path string, query url.Values) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, &exitError{exitMistake, err.Error()}
	}
	answer, err := c.do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return nil, c.refusal(answer, text)
	}
	return answer.Body, nil
}

// do makes a request, with the token.
func (c *daemonClient) do(r *http.Request) (*http.Response, error) {
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(r)
	if wrong := new(tls.CertificateVerificationError); errors.As(err, &wrong) {
		return nil, &exitError{exitMistake, fmt.Sprintf("the certificate of the daemon at %s is not trusted: %v\n"+
			"executord: name it, or that of its authority, by --ca-file FILE", c.shown, wrong.Err)}
	}
	if err != nil {
		return nil, &exitError{exitMistake, fmt.Sprintf("no daemon answers at %s: %v\n"+
			"executord: start one with executord run FILE --listen %s, or %s", c.shown, askCause(err), defaultAt, stores.Hint)}
	}
	return answer, nil
}

// refusal returns the error that an answer is which was not asked for.
func (c *daemonClient) refusal(answer *http.Response, text []byte) error {
	first, _, _ := strings.Cut(strings.TrimPrefix(string(text), "executord: "), "\n")
	if strings.Contains(first, "HTTP request to an HTTPS server") {
		first = "it speaks TLS; write --at https://" + strings.TrimPrefix(c.base, "http://")
	}
	return &exitError{exitMistake, fmt.Sprintf("the daemon at %s: %s", c.shown, job.Printable(cmp.Or(first, answer.Status)))}
}

// act asks the daemon to do something to a job.
func (c *daemonClient) act(o client.Order, reason string) (result page.Result, err error) {
	form, err := o.Form()
	if err != nil {
		return result, &exitError{exitMistake, err.Error()}
	}
	form.Set("reason", reason)
	ctx, cancel := context.WithTimeout(context.Background(), stores.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/act", strings.NewReader(form.Encode()))
	if err != nil {
		return result, &exitError{exitMistake, err.Error()}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	answer, err := c.do(r)
	if err != nil {
		return result, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusMethodNotAllowed {
		return result, &exitError{exitMistake, fmt.Sprintf("the daemon at %s takes no actions: it was started without --actions", c.shown)}
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err == nil {
		err = json.Unmarshal(text, &result)
	}
	if err != nil || result.Status != answer.StatusCode {
		return result, c.refusal(answer, text)
	}
	return result, nil
}

// askCause returns why a daemon could not be asked, without what was asked for.
func askCause(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return opCause(err)
}

// ask returns the lines of JSON with which the daemon answers.
func ask[T any](ctx context.Context, c *daemonClient, path string, query url.Values) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, stores.Patience)
	defer cancel()
	body, err := c.get(ctx, path, query)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var list []T
	left := mostList
	err = eachLine(body, func(line []byte, one T) error {
		if left -= weight(line); left < 0 {
			return tooLarge("the daemon's answer", mostList)
		}
		list = append(list, one)
		return nil
	})
	return list, err
}

// jobs returns the jobs of a daemon that names stand for, see client.Choose, all if there are none. If some are not there,
// it returns the others, and a MissingError.
func (f *atFlag) jobs(names []string) ([]view.Job, error) {
	c, err := f.client()
	if err != nil {
		return nil, err
	}
	all, err := ask[view.Job](context.Background(), c, "/api/jobs", nil)
	if err != nil || len(names) == 0 {
		return all, err
	}
	known := make([]client.Named, len(all))
	for i, j := range all {
		known[i] = client.Named{Namespace: j.Namespace, Name: j.Job}
	}
	chosen, wrong := client.Choose(known, names, "at "+c.shown)
	var found []view.Job
	for _, i := range chosen {
		found = append(found, all[i])
	}
	if len(wrong) > 0 {
		err = &client.MissingError{What: wrong}
	}
	return found, err
}

// runs returns the latest runs of the jobs of a daemon, n of each at most.
func (f *atFlag) runs(names []string, n int) ([]view.Run, error) {
	jobs, err := f.jobs(names)
	if err != nil {
		return nil, err
	}
	c, err := f.client()
	if err != nil {
		return nil, err
	}
	var found []view.Run
	for _, j := range jobs {
		runs, err := ask[view.Run](context.Background(), c, "/api/runs",
			url.Values{"job": {j.Job}, "n": {strconv.Itoa(min(n, web.MostRuns))}})
		if err != nil {
			return nil, err
		}
		found = append(found, runs...)
	}
	return found, nil
}

// A daemon may be another than the user thinks, so that what it answers is bounded: a line by mostLine, and a list by
// mostList. What a value takes in memory is at most cellSize for each of its parts, which commas separate, beside its
// text.
const (
	mostLine = 8 << 20
	mostList = 256 << 20
	cellSize = 256
)

// eachLine calls fn with each line of JSON.
func eachLine[T any](from io.Reader, fn func(line []byte, one T) error) error {
	in := bufio.NewScanner(from)
	in.Buffer(nil, mostLine)
	for in.Scan() {
		var one T
		line := in.Bytes()
		if weight(line) > mostList {
			return tooLarge("a line of the daemon's answer", mostLine)
		}
		if err := json.Unmarshal(line, &one); err != nil {
			return &exitError{exitMistake, "the daemon's answer is not understood: " + err.Error()}
		}
		if err := fn(line, one); err != nil {
			return err
		}
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return tooLarge("a line of the daemon's answer", mostLine)
	case err != nil:
		return &exitError{exitMistake, "the daemon's answer was cut: " + err.Error()}
	}
	return nil
}

// weight returns how much memory the value of a line may take, about.
func weight(line []byte) int { return len(line) + cellSize*(bytes.Count(line, []byte(","))+4) }

func tooLarge(what string, most int) error {
	return &exitError{exitMistake, fmt.Sprintf("%s is larger than %d MiB", what, most>>20)}
}

// latestOf returns the latest of some runs, n at most, the latest first.
func latestOf(runs []view.Run, n int) []view.Run {
	slices.SortStableFunc(runs, func(a, b view.Run) int { return b.Started.Compare(a.Started) })
	return runs[:min(len(runs), n)]
}
