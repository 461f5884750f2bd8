package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/cmd/executord/internal/about"
	"github.com/executor-go/executor/cmd/executord/internal/certificate"
	"github.com/executor-go/executor/cmd/executord/internal/client"
	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/daemon"
	"github.com/executor-go/executor/cmd/executord/internal/exposure"
	"github.com/executor-go/executor/cmd/executord/internal/fresh"
	"github.com/executor-go/executor/cmd/executord/internal/roles"
	"github.com/executor-go/executor/cmd/executord/internal/runlog"
	"github.com/executor-go/executor/cmd/executord/internal/web"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/admin"
)

// socketMode is for the daemon's user and group. It is documented.
const socketMode = 0o660

// listenOptions are the flags of run that are about looking at the daemon.
type listenOptions struct {
	address   string
	tokenFile string
	actions   bool
	tlsCert   string
	tlsKey    string
	proxies   []string
}

// validate checks what can be checked without opening anything.
func (o *listenOptions) validate() error {
	if o.address == "" {
		if o.tokenFile != "" || o.actions || o.tlsCert != "" || o.tlsKey != "" || len(o.proxies) > 0 {
			return errors.New("--token-file, --actions, --tls-cert, --tls-key and --trusted-proxy need --listen, such as --listen 127.0.0.1:8384")
		}
		return nil
	}
	if _, err := o.trusted(); err != nil {
		return err
	}
	if (o.tlsCert == "") != (o.tlsKey == "") {
		return errors.New("--tls-cert and --tls-key need each other: the certificate of the server, and its private key, both in PEM")
	}
	if path, isSocket := strings.CutPrefix(o.address, socketScheme); isSocket {
		if len(o.proxies) > 0 {
			return errors.New("--trusted-proxy is for an address with a port: who may open a Unix socket is trusted")
		}
		if o.tlsCert != "" {
			return errors.New("--tls-cert is for an address with a port: a Unix socket is protected by its file permissions")
		}
		if path == "" {
			return errors.New("--listen unix: needs the path of a socket, as in --listen unix:/run/executord.sock")
		}
		return nil
	}
	if o.actions && o.tokenFile == "" {
		return fmt.Errorf("--actions: all users of this machine could act on the jobs at %s: "+
			"add --token-file FILE, or listen on unix:/run/executord.sock", o.address)
	}
	host, _, err := net.SplitHostPort(o.address)
	if err != nil {
		return fmt.Errorf("--listen %s: it must be an address with a port, as in 127.0.0.1:8384, or unix:/run/executord.sock", o.address)
	}
	if ip, err := netip.ParseAddr(host); o.tokenFile == "" && (host == "" || err == nil && !ip.Unmap().IsLoopback()) {
		return o.exposed()
	}
	return nil
}

// trusted returns the proxies whose headers count.
func (o *listenOptions) trusted() (all []netip.Prefix, err error) {
	for _, text := range o.proxies {
		p, err := netip.ParsePrefix(text)
		if ip, wrong := netip.ParseAddr(text); wrong == nil {
			ip = ip.Unmap()
			p, err = netip.PrefixFrom(ip, ip.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("--trusted-proxy %s: it must be an address such as 10.1.2.3, or a network such as 10.1.2.0/24", text)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// exposed is the error for an address that others can reach.
func (o *listenOptions) exposed() error {
	return fmt.Errorf("--listen %s: other machines can reach this address: add --token-file FILE, "+
		"or listen on 127.0.0.1:8384 or unix:/run/executord.sock", o.address)
}

// listener is where a daemon is looked at. A nil one is nowhere.
type listener struct {
	net.Listener
	access  web.Access
	tokens  *fresh.Value[roles.Tokens]     // nil if none is needed
	cert    *fresh.Value[*tls.Certificate] // nil without TLS
	acts    bool
	shown   string // a URL, or the name of a socket
	proxies []netip.Prefix
	secrets []string // files that nobody else is to read
}

// open opens the address, nil if there is none. Nothing is served yet.
func (o *listenOptions) open() (*listener, error) {
	if o.address == "" {
		return nil, nil
	}
	l := &listener{acts: o.actions}
	var err error
	if l.proxies, err = o.trusted(); err != nil {
		return nil, err
	}
	if o.tokenFile != "" {
		if l.tokens, err = fresh.Open(func() (roles.Tokens, error) { return readTokens(o.tokenFile) }, o.tokenFile); err != nil {
			return nil, err
		}
		l.access, l.secrets = web.ByToken, append(l.secrets, o.tokenFile)
	}
	if path, isSocket := strings.CutPrefix(o.address, socketScheme); isSocket {
		if l.Listener, err = openSocket(path); err != nil {
			return nil, err
		}
		if l.tokens == nil {
			l.access = web.Socket
		}
		l.shown = o.address
		return l, nil
	}
	scheme := "http"
	if o.tlsCert != "" {
		scheme = "https"
		l.secrets = append(l.secrets, o.tlsKey)
		l.cert, err = fresh.Open(func() (*tls.Certificate, error) { return certificate.Read(o.tlsCert, o.tlsKey) }, o.tlsCert, o.tlsKey)
		if err != nil {
			return nil, err
		}
	}
	if l.Listener, err = net.Listen("tcp", o.address); err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			err = errors.New("another program listens there: end it, or choose another port")
		}
		return nil, fmt.Errorf("--listen %s: %w", o.address, opCause(err))
	}
	addr := l.Addr().(*net.TCPAddr)
	if l.tokens == nil && !addr.IP.IsLoopback() {
		l.Close()
		return nil, o.exposed()
	}
	host, _, _ := net.SplitHostPort(o.address)
	if host == "" || addr.IP.IsUnspecified() {
		host, _ = os.Hostname()
	}
	l.shown = scheme + "://" + net.JoinHostPort(host, fmt.Sprint(addr.Port)) + "/"
	return l, nil
}

// openSocket opens a Unix socket. One that a daemon has left is replaced.
func openSocket(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&fs.ModeSocket == 0 {
			return nil, fmt.Errorf("--listen %s%s: the file exists and is not a socket", socketScheme, path)
		}
		c, err := net.DialTimeout("unix", path, time.Second)
		switch {
		case err == nil:
			c.Close()
			return nil, fmt.Errorf("--listen %s%s: another process listens there", socketScheme, path)
		case !errors.Is(err, refused):
			return nil, fmt.Errorf("--listen %s%s: the socket may be another program's: %w; remove it, or choose another name", socketScheme, path, opCause(err))
		}
		os.Remove(path)
	}
	// It has its mode before it has a name: afterwards, somebody may have connected.
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error { return c.Control(closeToOthers) }}
	l, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, fmt.Errorf("--listen %s%s: %w", socketScheme, path, opCause(err))
	}
	if err := os.Chmod(path, socketMode); err != nil {
		l.Close()
		return nil, fmt.Errorf("--listen %s%s: %w", socketScheme, path, complaint.Cause(err))
	}
	return l, nil
}

// close closes an address that may have been opened, and may be served.
func (l *listener) close() {
	if l != nil {
		l.Close()
	}
}

// serve begins to serve a daemon, and logs where. Close ends that.
func (l *listener) serve(
	log runlog.Log, d *daemon.Daemon, observer *executor.Observer, file string, reading func() (bool, time.Time),
) (closeServer func()) {
	if l == nil {
		return func() {}
	}
	l.tell(log.Logger)
	c := web.Config{
		Daemon: d, Title: file, Version: version(), Access: l.access,
		Namespace: d.Store.Namespace, Durable: d.Durable(), Observer: observer, Reading: reading, Log: log.Logger,
		Proxies: l.proxies,
	}
	if l.tokens != nil {
		c.Tokens = l.tokens.Get
	}
	if l.cert != nil {
		c.TLS = certificate.Server(l.cert.Get)
	}
	if l.acts {
		c.Act = func(ctx context.Context, o client.Order) (admin.Answer, error) {
			return actOn(ctx, d, o)
		}
	}
	server := web.New(c)
	log.Info("listening", about.Key, about.Listening, "at", l.shown)
	server.Serve(l.Listener)
	return server.Close
}

// tell has the log say what is read again while the daemon runs.
func (l *listener) tell(log *slog.Logger) {
	warn := func() { exposure.Log(log, exposure.Secrets(l.secrets...)) }
	warn()
	if l.tokens != nil {
		l.tokens.Tell(func(all roles.Tokens, err error) {
			if err != nil {
				log.Error("tokens not read again", "reason", err.Error(), "hint", "correct the file; until then the old tokens stay valid")
				return
			}
			log.Info("tokens read again", "tokens", len(all))
			warn()
		})
	}
	if l.cert != nil {
		l.cert.Tell(func(pair *tls.Certificate, err error) {
			until := about.Time{Time: pair.Leaf.NotAfter}
			if err != nil {
				log.Error("certificate not read again", "reason", err.Error(), "until", until, "hint", "correct the files; until then the old certificate stays in use")
				return
			}
			log.Info("certificate read again", "until", until)
			warn()
		})
	}
}

// again reads the tokens and the certificate again, at once.
func (l *listener) again() {
	if l == nil {
		return
	}
	if l.tokens != nil {
		l.tokens.Again()
	}
	if l.cert != nil {
		l.cert.Again()
	}
}

// actOn does what is ordered, and returns what became of it.
func actOn(ctx context.Context, d *daemon.Daemon, o client.Order) (admin.Answer, error) {
	e, found, err := d.Find(ctx, o.Job)
	if !found && o.Do == client.EndRun { // it may be of the start of the daemon, or of a store that does not answer
		if number, ok := d.End(o.Job, int(o.Run)); ok {
			return admin.Answer{Outcome: durable.Applied, Text: fmt.Sprintf("run %d is being ended", number)}, nil
		}
	}
	switch {
	case err != nil:
		return admin.Answer{}, err
	case !found:
		return admin.Answer{Text: "this daemon has no such job"}, nil
	}
	defer d.Forget(ctx)
	v := client.Client{Store: d.Store, Jobs: d.Durable(), Shown: d.Store.Name}
	return v.Do(ctx, o, e)
}
