package etcd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// Port is that of members for other programs, where an address has none. At the port after that, they meet each other.
const Port = 2379

// A Member says how this program is a member of a cluster.
type Member struct {
	// Peers are the addresses of all members, this one among them, as host or host:port, the port being that for other
	// programs; it is Port if there is none. Each member is given the same list. Three members go on without one of them,
	// and five without two; an even number is no better than the odd one below.
	Peers []string
	// Self is the one of Peers that is this member. If it is "", it is the one whose host is an address of this
	// machine.
	Self string
	// Dir is the directory of the data of this member, which belongs to no other program. It is created, and needs a
	// disk that is quick to sync: a memory card is too slow. It must not be on a network file system.
	Dir string
	// Listen, unless it is "", is the host at which others are waited for, if that is not the one of Self: in a
	// container, for example, 0.0.0.0.
	Listen string
	// TLS are the certificates. Members on loopback need none.
	TLS *TLS
	// Insecure allows members that are not on loopback to have no TLS. Then whoever reaches their ports can read and
	// change all jobs: the network has to keep others away, as WireGuard does.
	Insecure bool
	// Quota is how many bytes the database may have, by default 8 GB, which is the most that etcd recommends. When it
	// has as many, all writes fail. From three quarters on an error is logged each hour.
	Quota int64
	// Prefix is what the keys begin with, by default "executor/". It ends with its only "/". Stores with different
	// prefixes share nothing.
	Prefix string
	// Logger gets what the member and the store complain of; nil means slog.Default().
	Logger *slog.Logger

	now    func() time.Time // of this machine
	noSync bool
}

// TLS are the files of certificates, in PEM. Members and programs all show theirs to each other, and trust what CA has
// signed: who has such a certificate can read and change all jobs. [Certificates] makes them.
type TLS struct {
	CA   string // the certificate of the authority
	Cert string // of this machine, for its addresses, for servers and clients
	Key  string // of Cert
}

func (t *TLS) info() transport.TLSInfo {
	if t == nil {
		return transport.TLSInfo{}
	}
	return transport.TLSInfo{TrustedCAFile: t.CA, CertFile: t.Cert, KeyFile: t.Key, ClientCertAuth: true}
}

// Join makes this program a member of the cluster, and opens its store. In an empty directory it founds the cluster
// together with the other members, once a majority of them is there and has nothing, or takes the place that Replace has
// made for it; otherwise it goes on with what the directory has. Join waits until a majority of the members is there, or until ctx ends. Closing the store ends the
// membership of the program until the next Join.
//
// The error matches executor.ErrInvalid if a field of m is wrong.
func Join(ctx context.Context, m Member) (*Store, error) {
	m.Logger, m.now = cmp.Or(m.Logger, slog.Default()), m.clock()
	clocks := newClocks(m.now)
	cfg, err := m.config()
	if err != nil {
		return nil, err
	}
	quiet := new(atomic.Bool)
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zapLogger(m.Logger.With("member", cfg.Name), quiet))
	cfg.UserHandlers = clocks.handlers()
	client, err := httpFor(m.TLS)
	if err != nil {
		return nil, err
	}
	empty, err := m.admit(ctx, cfg, client)
	if err != nil {
		return nil, fmt.Errorf("durable/etcd: %w", err)
	}
	server, err := listen(ctx, func() (*embed.Etcd, error) { return start(cfg) })
	if err != nil {
		return nil, fmt.Errorf("durable/etcd: %w", err)
	}
	stopClocks := clocks.keep(server.Server, client, m.Logger)
	if err := m.begin(ctx, cfg, server, client); err != nil {
		quiet.Store(true)
		stopClocks()
		server.Server.Stop() // without it Close would wait for a majority
		server.Close()
		client.CloseIdleConnections()
		if empty && errors.Is(err, ErrOtherCluster) { // what it has founded is of no use
			err = errors.Join(err, os.RemoveAll(dataOf(cfg)))
		}
		return nil, fmt.Errorf("durable/etcd: %w", err)
	}
	inside := v3client.New(server.Server)
	set := settings{Prefix: m.Prefix, Logger: m.Logger, now: m.now, http: client, one: Client{TLS: m.TLS, Logger: m.Logger}, quiet: quiet}
	s, err := open(ctx, inside, set, func() error {
		quiet.Store(true)
		stopClocks()
		err := inside.Close()
		server.Close()
		client.CloseIdleConnections()
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		return err
	})
	if err == nil {
		s.home.keep(server)
	}
	return s, err
}

// listen calls open, which listens, again while its address is in use, but not for long: where another goroutine begins a
// program, that program has the listeners which this one has closed until it runs.
func listen[T any](ctx context.Context, open func() (T, error)) (T, error) {
	for until := time.Now().Add(patience); ; pause(ctx, time.Millisecond) {
		got, err := open()
		if !errors.Is(err, syscall.EADDRINUSE) || ctx.Err() != nil || time.Now().After(until) {
			return got, err
		}
	}
}

// start starts the member. What etcd can't read it panics at, some of it where nobody can recover: so the database is
// read here before.
func start(cfg *embed.Config) (server *embed.Etcd, err error) {
	unreadable := func(why any) error {
		return fmt.Errorf("the data in %s can't be read: %v: %w", cfg.Dir, why, ErrCorrupt)
	}
	defer func() {
		if r := recover(); r != nil {
			err = unreadable(r)
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // the database is memory that may not be there
	switch err := readDatabase(cfg); {
	case err == nil:
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("another program uses the data in %s: end it, or correct Dir", cfg.Dir)
	case errors.As(err, new(*fs.PathError)): // nothing is known of what it has
		return nil, err
	default:
		return nil, unreadable(err)
	}
	// A record of the log whose bytes are others is no message of protobuf, or has another checksum.
	if server, err = embed.StartEtcd(cfg); errors.Is(err, wal.ErrCRCMismatch) || err != nil && strings.HasPrefix(err.Error(), "proto:") {
		err = unreadable(err)
	}
	return server, err
}

// readDatabase reads all pages of the database, as far as they have keys, if it is there. It panics at what is none.
func readDatabase(cfg *embed.Config) error {
	db, err := bbolt.Open(filepath.Join(dataOf(cfg), "snap", "db"), 0o600, &bbolt.Options{ReadOnly: true, Timeout: patience})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer db.Close()
	logged := hasLog(cfg)
	return db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, of *bbolt.Bucket) error {
			var last []byte
			return of.ForEach(func(key, _ []byte) error {
				switch {
				case !logged && string(name) == "key":
					return errors.New("the log is missing")
				case last != nil && bytes.Compare(last, key) >= 0:
					return fmt.Errorf("the keys of %q are not in order", name)
				}
				last = key
				return nil
			})
		})
	})
}

// hasLog reports whether the member has a log: then it has been one of a cluster.
func hasLog(cfg *embed.Config) bool { return wal.Exist(filepath.Join(dataOf(cfg), "wal")) }

// begin waits until the member is one of a majority, and has a vote. Meanwhile it looks whether the cluster is that of the
// peers.
func (m *Member) begin(ctx context.Context, cfg *embed.Config, server *embed.Etcd, web *httpClient) (err error) {
	asking, stop := context.WithCancel(ctx)
	wrong, asked := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(asked)
		for asking.Err() == nil {
			if err := misplaced(asking, cfg, server.Server, web); err != nil {
				wrong <- err
				return
			}
			pause(asking, askEvery)
		}
	}()
	defer func() { stop(); <-asked }()
	select {
	case <-server.Server.ReadyNotify():
		if err = mistaken(cfg, server.Server); err == nil {
			err = promote(ctx, server.Server)
		}
		if err == nil {
			err = corrupt(ctx, cfg, server.Server, web)
		}
	case <-ctx.Done():
		err = m.alone(ctx)
	case err = <-wrong:
	case err = <-server.Err():
	case <-server.Server.StopNotify():
		err = errors.New("the member has stopped; see its log")
	}
	if err != nil {
		err = cmp.Or(misplaced(ctx, cfg, server.Server, web), err)
	}
	return err
}

// alone returns the error of a context that has ended while the others were waited for.
func (m *Member) alone(ctx context.Context) error {
	return fmt.Errorf("a majority of the members %q was not there: %w", m.Peers, context.Cause(ctx))
}

// askEvery is how often a member that waits for the others asks whether it is one of them.
const askEvery = 250 * time.Millisecond

func (m *Member) clock() func() time.Time {
	if m.now == nil {
		return time.Now
	}
	return m.now
}

// config returns the configuration of the member.
func (m *Member) config() (*embed.Config, error) {
	var initial []string
	loopback, own := true, ""
	for _, p := range m.Peers {
		addr, host, err := parseAddress(p)
		if err != nil {
			return nil, err
		}
		loopback = loopback && isLoopback(host)
		switch mine := m.Self != "" && addr == withPort(m.Self) || m.Self == "" && isOwn(host); {
		case mine && own != "":
			return nil, invalidf("members %s and %s are both on this machine: set Self to the one that this is", own, addr)
		case mine:
			own = addr
		}
		initial = append(initial, addr+"="+m.scheme()+"://"+peerOf(addr))
	}
	slices.Sort(initial)
	switch {
	case own == "" && m.Self != "":
		return nil, invalidf("Self %q is none of the members %q", m.Self, m.Peers)
	case own == "":
		return nil, invalidf("none of the members %q is an address of this machine: set Self to the one that this is", m.Peers)
	case len(slices.Compact(slices.Clone(initial))) != len(initial):
		return nil, invalidf("one of the members %q is there twice", m.Peers)
	case m.Dir == "":
		return nil, invalidf("Dir is missing: the directory for the data of this member")
	case !loopback && m.TLS == nil && !m.Insecure:
		return nil, invalidf("members that are not on loopback need TLS, since whoever reaches their ports can change all " +
			"jobs: see Certificates")
	case m.Quota < 0:
		return nil, invalidf("Quota %d is negative", m.Quota)
	}
	if err := checkPrefix(m.Prefix); err != nil {
		return nil, err
	}
	at := func(addr string) []url.URL { return []url.URL{{Scheme: m.scheme(), Host: addr}} }
	listen := own
	if m.Listen != "" {
		_, port, _ := net.SplitHostPort(own)
		listen = net.JoinHostPort(strings.Trim(m.Listen, "[]"), port)
	}
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = own, m.Dir
	cfg.InitialCluster, cfg.InitialClusterToken = strings.Join(initial, ","), "executor"
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = at(peerOf(listen)), at(peerOf(own))
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = at(listen), at(own)
	cfg.PeerTLSInfo, cfg.ClientTLSInfo = m.TLS.info(), m.TLS.info()
	cfg.TickMs, cfg.ElectionMs = 50, 500
	cfg.MaxTxnOps, cfg.MaxRequestBytes = uint(memberLimits.ops), uint(memberLimits.bytes+1<<20)
	cfg.QuotaBackendBytes = cmp.Or(m.Quota, 8<<30)
	// What was written before is kept for as long as a mirror that has lost its line is to find it again.
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = embed.CompactorModePeriodic, "1m"
	// So many entries, of up to some hundred kilobytes each, the log in memory has for a member that is behind.
	cfg.SnapshotCount, cfg.SnapshotCatchUpEntries = 5000, 500
	cfg.UnsafeNoFsync = m.noSync
	cfg.EnableGRPCGateway = false
	return cfg, nil
}

// checkPrefix refuses a prefix that another one may begin with, whose rows would be taken for its own.
func checkPrefix(prefix string) error {
	if prefix != "" && strings.Index(prefix, "/") != len(prefix)-1 {
		return invalidf("Prefix %q must end with its only /", prefix)
	}
	return nil
}

func (m *Member) scheme() string {
	if m.TLS != nil {
		return "https"
	}
	return "http"
}

// withPort returns an address with a port.
func withPort(addr string) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(strings.Trim(addr, "[]"), strconv.Itoa(Port))
}

// parseAddress returns an address with a port, and its host.
func parseAddress(text string) (addr, host string, err error) {
	addr = withPort(text)
	host, _, err = net.SplitHostPort(addr)
	port, bad := portOf(addr)
	if err != nil || bad != nil || host == "" || strings.ContainsAny(host, "/@, ") || port < 1 || port > 65534 {
		return "", "", invalidf("member %q must be host or host:port, with a port from 1 to 65534", text)
	}
	return addr, host, nil
}

func portOf(addr string) (int, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(port)
}

// peerOf returns where the other members find the one with an address, and addressOf, from the URLs for that, its address.
func peerOf(addr string) string { return besides(addr, 1) }

func addressOf(urls []string) string { return besides(hostOf(urls), -1) }

// besides returns an address with a port that is higher by n.
func besides(addr string, n int) string {
	port, err := portOf(addr)
	if err != nil {
		return addr
	}
	host, _, _ := net.SplitHostPort(addr)
	return net.JoinHostPort(host, strconv.Itoa(port+n))
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// isOwn reports whether a host is an address of this machine.
func isOwn(host string) bool {
	ips, err := net.LookupIP(host)
	if err != nil {
		return false
	}
	own, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(own, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && slices.ContainsFunc(ips, n.IP.Equal)
	})
}

// httpFor returns the client that asks members for the time.
func httpFor(t *TLS) (*httpClient, error) {
	tr := &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: 10 * time.Second}
	if t != nil {
		var err error
		if tr.TLSClientConfig, err = t.info().ClientConfig(); err != nil {
			return nil, invalidf("the certificates can't be used: %w", err)
		}
	}
	return &http.Client{Transport: tr}, nil
}

// A Client says how this program, which is no member, reaches a cluster.
type Client struct {
	// Endpoints are addresses of members, as in Member.Peers. Some of them are enough.
	Endpoints []string
	TLS       *TLS // nil if the cluster has none
	// Username and Password are for a cluster of etcd that asks for them.
	Username, Password string
	// Prefix is what the keys begin with, by default "executor/". It must be that of the members.
	Prefix string
	// Logger gets what the store complains of; nil means slog.Default().
	Logger *slog.Logger
}

// Dial opens the store of a cluster that this program is no member of: one whose members have called Join, or one of
// etcd that runs already. The servers of the latter must be started with --max-txn-ops=100000 and
// --max-request-bytes=33554432, have to compact what is old, and do not tell their time: then the store's clock is that
// of the machine. Dial waits until the cluster answers, or until ctx ends. The error matches executor.ErrInvalid if a
// field of c is wrong.
func Dial(ctx context.Context, c Client) (*Store, error) {
	if len(c.Endpoints) == 0 {
		return nil, invalidf("Endpoints are missing")
	}
	if err := checkPrefix(c.Prefix); err != nil {
		return nil, err
	}
	web, err := httpFor(c.TLS)
	if err != nil {
		return nil, err
	}
	quiet := new(atomic.Bool)
	client, err := c.dial(ctx, quiet)
	if err != nil {
		return nil, err
	}
	end := func() error {
		quiet.Store(true)
		defer web.CloseIdleConnections()
		return client.Close()
	}
	if err := takesMuch(ctx, client); err != nil {
		end()
		return nil, explain(err)
	}
	return open(ctx, client, settings{Prefix: c.Prefix, Logger: c.Logger, http: web, one: c, quiet: quiet}, end)
}

// dialOne is dial for one member, by its address or a URL.
func (c Client) dialOne(ctx context.Context, at string, quiet *atomic.Bool) (*clientv3.Client, error) {
	if _, host, found := strings.Cut(at, "://"); found {
		at = host
	}
	c.Endpoints = []string{at}
	return c.dial(ctx, quiet)
}

// dial makes a client. That waits for an answer, until ctx ends, if there is a user.
func (c *Client) dial(ctx context.Context, quiet *atomic.Bool) (*clientv3.Client, error) {
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
	cfg := clientv3.Config{
		Context: life, Username: c.Username, Password: c.Password, Logger: zapLogger(cmp.Or(c.Logger, slog.Default()), quiet),
		DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: time.Second, // more often, servers end the line
		MaxCallSendMsgSize: memberLimits.bytes + 1<<20,
	}
	for _, e := range c.Endpoints {
		e, _, err := parseAddress(e)
		if err != nil {
			return nil, err
		}
		if c.TLS != nil {
			e = "https://" + e
		}
		cfg.Endpoints = append(cfg.Endpoints, e)
	}
	if c.TLS != nil {
		var err error
		if cfg.TLS, err = c.TLS.info().ClientConfig(); err != nil {
			return nil, invalidf("the certificates can't be used: %w", err)
		}
	}
	client, err := clientv3.New(cfg)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("durable/etcd: the cluster does not answer: %w", context.Cause(ctx))
	case err != nil:
		return nil, invalidf("%w", err)
	}
	return client, nil
}

// takesMuch returns an error if the servers take smaller transactions than members do. What a leader that has died was
// asked for is asked for again.
func takesMuch(ctx context.Context, c *clientv3.Client) (err error) {
	never := slices.Repeat([]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision("!"), "<", 0)}, memberLimits.ops)
	for {
		one, cancel := context.WithTimeout(ctx, 2*patience)
		_, err = c.Txn(one).If(never...).Commit()
		cancel()
		if err == nil || declined(err) || ctx.Err() != nil {
			return err
		}
		pause(ctx, 20*time.Millisecond)
	}
}
