package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

// Ports of members, where an address has none.
const (
	PeerPort   = 2380 // for the other members
	ClientPort = 2379 // for other programs
)

// A Member says how this program is a member of a cluster.
type Member struct {
	// Peers are the addresses of all members, this one among them, as host or host:port; the port is PeerPort if there
	// is none. Each member is given the same list. Three members go on without one of them, and five without two; an
	// even number is no better than the odd one below.
	Peers []string
	// Self is the one of Peers that is this member. If it is "", it is the one whose host is an address of this
	// machine.
	Self string
	// Dir is the directory of the data of this member, which belongs to no other program. It is created, and needs a
	// disk that is quick to sync: a memory card is too slow. It must not be on a network file system.
	Dir string
	// Client is the address for other programs, as host:port. If it is "", it is the host of Self, with ClientPort if
	// the port of Self is PeerPort, else with the port before that.
	Client string
	// Listen, unless it is "", is the address at which the other members are waited for, if that is not the one of
	// Peers: in a container, for example, 0.0.0.0:2380.
	Listen string
	// TLS are the certificates. Members on loopback need none.
	TLS *TLS
	// Insecure allows members that are not on loopback to have no TLS. Then whoever reaches their ports can read and
	// change all jobs: the network has to keep others away, as WireGuard does.
	Insecure bool
	// Quota is how many bytes the database may have, by default 8 GB, which is the most that etcd recommends. When it
	// has as many, all writes fail. From three quarters on an error is logged each hour.
	Quota int64
	// Prefix is what the keys begin with, by default "executor/". Stores with different prefixes share nothing.
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
// together with the other members, or takes the place that Replace has made for it; otherwise it goes on with what the
// directory has. Join waits until a majority of the members is there, or until ctx ends. Closing the store ends the
// membership of the program until the next Join.
//
// The error matches executor.ErrInvalid if a field of m is wrong.
func Join(ctx context.Context, m Member) (*Store, error) {
	m.Logger, m.now = m.logger(), m.clock()
	cfg, err := m.config()
	if err != nil {
		return nil, err
	}
	quiet := new(atomic.Bool)
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zapLogger(m.Logger.With("member", cfg.Name), quiet))
	client, err := httpFor(m.TLS)
	if err != nil {
		return nil, err
	}
	empty, err := m.admit(ctx, cfg, client)
	if err != nil {
		return nil, fmt.Errorf("durable/etcd: %w", err)
	}
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, fmt.Errorf("durable/etcd: %w", err)
	}
	if err := m.begin(ctx, cfg, server, client); err != nil {
		quiet.Store(true)
		server.Server.Stop() // without it Close would wait for a majority
		server.Close()
		client.CloseIdleConnections()
		if empty && errors.Is(err, ErrOtherCluster) { // what it has founded is of no use
			err = errors.Join(err, os.RemoveAll(dataOf(cfg)))
		}
		return nil, fmt.Errorf("durable/etcd: %w", err)
	}
	inside := v3client.New(server.Server)
	set := settings{Prefix: m.Prefix, Logger: m.Logger, now: m.now, http: client, tls: m.TLS, quiet: quiet}
	s, err := open(ctx, inside, set, func() error {
		quiet.Store(true)
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
	case <-ctx.Done():
		err = fmt.Errorf("a majority of the members %q was not there: %w", m.Peers, context.Cause(ctx))
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

// askEvery is how often a member that waits for the others asks whether it is one of them.
const askEvery = 250 * time.Millisecond

func (m *Member) logger() *slog.Logger {
	if m.Logger == nil {
		return slog.Default()
	}
	return m.Logger
}

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
		addr := withPort(p, PeerPort)
		host, _, err := net.SplitHostPort(addr)
		if err != nil || host == "" {
			return nil, invalidf("peer %q must be host or host:port", p)
		}
		loopback = loopback && isLoopback(host)
		switch mine := p == m.Self || m.Self == "" && isOwn(host); {
		case mine && own != "":
			return nil, invalidf("peers %s and %s are both on this machine; set Self to the one that is this member", own, addr)
		case mine:
			own = addr
		}
		initial = append(initial, addr+"="+m.scheme()+"://"+addr)
	}
	slices.Sort(initial)
	switch {
	case own == "" && m.Self != "":
		return nil, invalidf("Self %q is none of the peers %q", m.Self, m.Peers)
	case own == "":
		return nil, invalidf("none of the peers %q is an address of this machine; set Self to the one that is this member",
			m.Peers)
	case len(slices.Compact(slices.Clone(initial))) != len(initial):
		return nil, invalidf("one of the peers %q is there twice", m.Peers)
	case m.Dir == "":
		return nil, invalidf("Dir is missing: the directory for the data of this member")
	case !loopback && m.TLS == nil && !m.Insecure:
		return nil, invalidf("members that are not on loopback need TLS, since whoever reaches their ports can change all " +
			"jobs; see Certificates")
	case m.Quota < 0:
		return nil, invalidf("Quota %d is negative", m.Quota)
	}
	client := m.Client
	if client == "" {
		host, text, _ := net.SplitHostPort(own)
		port, err := strconv.Atoi(text)
		if err != nil || port < 2 {
			return nil, invalidf("the port of %s must be a number above 1", own)
		}
		client = net.JoinHostPort(host, strconv.Itoa(port-1))
	}
	at := func(addr string) []url.URL { return []url.URL{{Scheme: m.scheme(), Host: addr}} }
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = own, m.Dir
	cfg.InitialCluster, cfg.InitialClusterToken = strings.Join(initial, ","), "executor"
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = at(cmp.Or(m.Listen, own)), at(own)
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = at(client), at(client)
	if host, port, err := net.SplitHostPort(m.Listen); err == nil && port != "" && m.Client == "" {
		_, port, _ = net.SplitHostPort(client)
		cfg.ListenClientUrls = at(net.JoinHostPort(host, port))
	}
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
	cfg.UserHandlers = map[string]http.Handler{nowPath: tell(m.clock())}
	return cfg, nil
}

func (m *Member) scheme() string {
	if m.TLS != nil {
		return "https"
	}
	return "http"
}

// withPort returns an address with a port.
func withPort(addr string, port int) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(strings.Trim(addr, "[]"), strconv.Itoa(port))
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
	// Endpoints are addresses of members for clients, as host or host:port; the port is ClientPort if there is none.
	// Some of them are enough.
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
	web, err := httpFor(c.TLS)
	if err != nil {
		return nil, err
	}
	quiet := new(atomic.Bool)
	client, err := c.dial(quiet)
	if err != nil {
		return nil, err
	}
	end := func() error {
		quiet.Store(true)
		return client.Close()
	}
	if err := takesMuch(ctx, client); err != nil {
		end()
		return nil, explain(err)
	}
	return open(ctx, client, settings{Prefix: c.Prefix, Logger: c.Logger, http: web, tls: c.TLS, quiet: quiet}, end)
}

func (c *Client) dial(quiet *atomic.Bool) (*clientv3.Client, error) {
	cfg := clientv3.Config{
		Username: c.Username, Password: c.Password, Logger: zapLogger(cmp.Or(c.Logger, slog.Default()), quiet),
		DialKeepAliveTime: 2 * time.Second, DialKeepAliveTimeout: time.Second, PermitWithoutStream: true,
		MaxCallSendMsgSize: memberLimits.bytes + 1<<20,
	}
	for _, e := range c.Endpoints {
		if e = withPort(e, ClientPort); c.TLS != nil {
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
	if err != nil {
		return nil, invalidf("%w", err)
	}
	return client, nil
}

// takesMuch returns an error if the servers take smaller transactions than members do.
func takesMuch(ctx context.Context, c *clientv3.Client) error {
	never := slices.Repeat([]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision("!"), "<", 0)}, memberLimits.ops)
	_, err := c.Txn(ctx).If(never...).Commit()
	return err
}
