package etcd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
)

// MemberInfo is a member as the cluster knows it.
type MemberInfo struct {
	Address string // that of Member.Peers, as host:port
	Leads   bool
	Learner bool          // it gets what it lacks, and has no vote yet
	Error   error         // why it does not answer; nil if it does
	Version string        // of its etcd
	Ahead   time.Duration // of its clock, by which that is ahead of this machine's, but for the way of the answer
	Used    int64         // bytes of its database that are in use
	Size    int64         // of its database
	Quota   int64         // see Member.Quota
}

// Members returns the members of the cluster, in the order of their addresses, as far as this program's member knows.
// Those that do not answer within a second have an Error.
func (s *Store) Members(ctx context.Context) ([]MemberInfo, error) {
	h := s.home
	ctx, leave, err := h.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return (&observer{h.client, h.clock.http, h.one, h.quiet}).members(ctx)
}

// Members returns the members of a cluster, as those of [Client.Endpoints] know that answer. A majority need not be there:
// without one nobody leads. It is an error if none of them answers before ctx ends.
func Members(ctx context.Context, c Client) ([]MemberInfo, error) {
	web, err := httpFor(c.TLS)
	if err != nil {
		return nil, err
	}
	defer web.CloseIdleConnections()
	quiet := new(atomic.Bool)
	quiet.Store(true)
	client, err := c.dial(ctx, quiet)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return (&observer{client, web, c, quiet}).members(ctx)
}

// An observer asks each member by itself.
type observer struct {
	cluster *clientv3.Client
	web     *httpClient
	one     Client // how a member is reached, but for its address
	quiet   *atomic.Bool
}

func (o *observer) members(ctx context.Context) ([]MemberInfo, error) {
	list, err := o.cluster.MemberList(ctx, clientv3.WithSerializable())
	if err != nil {
		return nil, explain(err)
	}
	all := make([]MemberInfo, len(list.Members))
	var asked sync.WaitGroup
	for i, m := range list.Members {
		all[i] = MemberInfo{Address: addressOf(m.PeerURLs), Learner: m.IsLearner, Error: errAway}
		if len(m.ClientURLs) > 0 {
			asked.Go(func() {
				one, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				if all[i].Error = o.ask(one, m, &all[i]); all[i].Error != nil && one.Err() != nil {
					all[i].Error = errSilent
				}
			})
		}
	}
	asked.Wait()
	slices.SortFunc(all, func(a, b MemberInfo) int { return cmp.Compare(a.Address, b.Address) })
	return all, nil
}

var (
	errAway   = errors.New("the member has not been there yet")
	errSilent = errors.New("the member does not answer within a second")
)

// ask asks one member how it is.
func (o *observer) ask(ctx context.Context, m *pb.Member, info *MemberInfo) error {
	c, err := o.one.dialOne(ctx, m.ClientURLs[0], o.quiet)
	if err != nil {
		return err
	}
	defer c.Close()
	status, err := c.Status(ctx, c.Endpoints()[0])
	if err != nil {
		return err
	}
	info.Leads, info.Version = status.Leader == m.ID, status.Version
	info.Used, info.Size, info.Quota = status.DbSizeInUse, status.DbSize, status.DbSizeQuota
	told, received, err := askTime(ctx, o.web, m.ClientURLs[0]+clockPath)
	if info.Ahead = told.Sub(received); errors.Is(err, errNoClock) {
		info.Ahead, err = 0, nil
	}
	return err
}

func hostOf(urls []string) string {
	if len(urls) == 0 {
		return ""
	}
	u, err := url.Parse(urls[0])
	if err != nil {
		return urls[0]
	}
	return u.Host
}

// Replace removes a member that is gone for good, by its address in Member.Peers, and makes room for another one, which
// may have the same address. Then have Join on the new machine, with an empty Dir, and the new address in Peers: it
// gets what the cluster has, and a vote after that. Change Peers of the other members at their next start. A majority
// of the members must be there. Replace may be repeated after an error. If fresh was wrong, and has not joined, Replace
// puts another one in its place.
func (s *Store) Replace(ctx context.Context, gone, fresh string) error {
	gone, _, err := parseAddress(gone)
	if err != nil {
		return err
	}
	if fresh, _, err = parseAddress(fresh); err != nil {
		return err
	}
	ctx, leave, err := s.home.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	c := s.home.client
	list, err := c.MemberList(ctx)
	if err != nil {
		return explain(err)
	}
	scheme, waits := "http", false
	var remove []uint64
	for _, m := range list.Members {
		host := addressOf(m.PeerURLs)
		if strings.HasPrefix(m.PeerURLs[0], "https:") {
			scheme = "https"
		}
		switch {
		case host == fresh && m.Name == "":
			waits = true
		case host == gone:
			remove = append(remove, m.ID)
		case host == fresh:
			return invalidf("%s is a member already", fresh)
		}
	}
	removed := s.home.prefix + keyGone + gone
	switch {
	case len(remove) > 0:
		_, err = c.Put(ctx, removed, "")
	case !waits:
		var earlier *clientv3.GetResponse
		if earlier, err = c.Get(ctx, removed); err == nil && earlier.Count == 0 {
			return invalidf("%s is no member; see Members", gone)
		}
	}
	if err != nil {
		return explain(err)
	}
	for _, id := range remove {
		err := s.home.reconfigure(ctx, func(ctx context.Context) error {
			_, err := c.MemberRemove(ctx, id)
			if errors.Is(err, rpctypes.ErrMemberNotFound) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if !waits {
		err = s.home.reconfigure(ctx, func(ctx context.Context) error {
			_, err := c.MemberAddAsLearner(ctx, []string{scheme + "://" + peerOf(fresh)})
			if errors.Is(err, rpctypes.ErrPeerURLExist) {
				return nil // by an earlier try
			}
			return err
		})
	}
	if err == nil {
		if _, err = c.Delete(ctx, removed); err != nil {
			err = explain(err)
		}
	}
	return err
}

// reconfigure changes the members, and waits while the cluster does not allow for that: until all but the one that is
// gone have been there for some seconds.
func (h *home) reconfigure(ctx context.Context, change func(context.Context) error) error {
	for {
		one, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := change(one)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return explain(err)
		case !errors.Is(err, rpctypes.ErrUnhealthy) && declined(err):
			return explain(err)
		}
		pause(ctx, 200*time.Millisecond)
	}
}

// Backup writes a snapshot of the whole cluster, as it is now, for Restore.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	ctx, leave, err := s.home.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := s.home.newest(ctx); err != nil {
		return err
	}
	h := s.home
	from := h.client // of the member in this program, or of any: then of one that is not behind
	for _, end := range h.client.Endpoints() {
		if from, err = h.one.dialOne(ctx, end, h.quiet); err != nil {
			return err
		}
		defer from.Close()
		one, cancel := context.WithTimeout(ctx, 2*patience)
		_, err = from.Get(one, h.prefix+keyAct)
		if cancel(); err == nil {
			break
		}
	}
	if err != nil {
		return explain(err)
	}
	r, err := from.Snapshot(ctx)
	if err != nil {
		return explain(err)
	}
	defer r.Close()
	if _, err := io.Copy(w, r); err != nil {
		return fmt.Errorf("durable/etcd: %w", err)
	}
	return nil
}

// Restore makes the data of a member, whose directory must have none, from a file that Backup has written. It must be
// called for each member, with the same file and the same Peers, while no member runs; then Join goes on with it. The
// jobs are as they were: what has ended since then runs again. Programs that are no members may run meanwhile. If Restore
// is broken off, it may be called again. The error matches executor.ErrInvalid if a field of m is wrong.
func Restore(m Member, file string) error {
	cfg, err := m.config()
	if err != nil {
		return err
	}
	if _, err := os.Stat(dataOf(cfg)); !errors.Is(err, fs.ErrNotExist) {
		return invalidf("directory %s has data already; restore into another one", m.Dir)
	}
	if err := m.restore(cfg, file); err != nil {
		return fmt.Errorf("durable/etcd: %s can't be restored: %w", file, err)
	}
	return nil
}

// restore restores a file beside the place of the data, and moves them there.
func (m *Member) restore(cfg *embed.Config, file string) error {
	token, err := fingerprint(file)
	if err != nil {
		return err
	}
	beside := filepath.Join(m.Dir, "restoring")
	if err := errors.Join(os.RemoveAll(beside), os.MkdirAll(m.Dir, 0o700)); err != nil { // one that was broken off
		return err
	}
	defer os.RemoveAll(beside)
	quiet := new(atomic.Bool)
	quiet.Store(true)
	err = snapshot.NewV3(zapLogger(cmp.Or(m.Logger, slog.Default()), quiet)).Restore(snapshot.RestoreConfig{
		SnapshotPath: file, Name: cfg.Name, OutputDataDir: beside, PeerURLs: []string{cfg.AdvertisePeerUrls[0].String()},
		InitialCluster: cfg.InitialCluster, InitialClusterToken: token, RevisionBump: restoredLater, MarkCompacted: true,
	})
	if err != nil {
		return err
	}
	return os.Rename(filepath.Join(beside, filepath.Base(dataOf(cfg))), dataOf(cfg))
}

// restoredLater is by how much the revision of a cluster that was restored is higher than that of its backup: more than
// there were writes since. So a mirror that has more than the backup finds out that it has to read all again.
const restoredLater = 1 << 40

// fingerprint returns the checksum at the end of a backup. The identity of the cluster that is made from the backup has it,
// so that a member with the data of the one before is none of this one.
func fingerprint(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var sum [sha256.Size]byte
	if _, err := f.Seek(-sha256.Size, io.SeekEnd); err != nil {
		return "", errors.New("it is no backup")
	}
	if _, err := io.ReadFull(f, sum[:]); err != nil {
		return "", err
	}
	return fmt.Sprintf("executor %x", sum), nil
}

// These are why a directory does not fit the cluster, in errors of Join, after what was found.
var (
	// ErrNoPlace says that the cluster does not know the member, whose directory is empty.
	ErrNoPlace = errors.New("make room for this member by Replace, or correct Peers")
	// ErrDataLost says that the cluster knows the member, but its directory is empty.
	ErrDataLost = errors.New("take the directory that it had or, if its data are lost, replace it by itself (Replace)")
	// ErrOtherCluster says that the directory has the data of another cluster, such as one of before a backup was
	// restored.
	ErrOtherCluster = errors.New("correct Dir or Peers; if nothing of those data is needed, remove them, and replace the " +
		"member by itself (Replace)")
	// ErrOtherMember says that the directory has the data of another member.
	ErrOtherMember = errors.New("correct Dir; each member needs its own")
	// ErrCorrupt says that the data of the member are not what it had written: its disk has changed them.
	ErrCorrupt = errors.New("find out what is wrong with its disk, remove the data, and replace the member by itself (Replace)")
	// ErrRemoved says that the member was removed from the cluster.
	ErrRemoved = errors.New("to have it come back, remove its data, and make room for it by Replace")
)

// admit finds out what a member with an empty directory is: one of a new cluster, or one that Replace has made room
// for. It reports whether the directory is empty.
//
// A new cluster is founded by members of which a majority is there, and has nothing. A member that has lost its data
// would otherwise be taken for the one that it was, if it came before the others, and vote for what it has agreed to
// before to be forgotten.
func (m *Member) admit(ctx context.Context, cfg *embed.Config, web *httpClient) (empty bool, err error) {
	if hasLog(cfg) {
		return false, nil // it goes on with what it has
	}
	if len(others(cfg)) == 0 {
		return true, nil
	}
	stop, err := tellNothing(ctx, cfg)
	if err != nil {
		return true, err
	}
	defer stop()
	for {
		found, err := m.look(ctx, cfg, web)
		if found || err != nil {
			return true, err
		}
		if pause(ctx, askEvery); ctx.Err() != nil {
			return true, m.alone(ctx)
		}
	}
}

// tellNothing has this member tell others, until stop is called, that it has nothing.
func tellNothing(ctx context.Context, cfg *embed.Config) (stop func(), err error) {
	at := cfg.ListenPeerUrls[0]
	l, err := listen(ctx, func() (net.Listener, error) { return transport.NewListener(at.Host, at.Scheme, &cfg.PeerTLSInfo) })
	if err != nil {
		return nil, err
	}
	server := &http.Server{ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), Handler: http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Serve(l)
	}()
	return func() { server.Close(); <-ended }, nil
}

// look reports whether a member with an empty directory has found what it is.
func (m *Member) look(ctx context.Context, cfg *embed.Config, web *httpClient) (found bool, err error) {
	own, founders := cfg.AdvertisePeerUrls[0].String(), 1
	for _, url := range others(cfg) {
		members, _, err := membersAt(ctx, url, web)
		if errors.Is(err, errNothing) {
			founders++
		}
		if err != nil {
			continue // it is not there
		}
		i := slices.IndexFunc(members, func(of membership.Member) bool { return slices.Contains(of.PeerURLs, own) })
		switch {
		case i < 0:
			return false, fmt.Errorf("%s is a member of a cluster that %s is none of: its members are %s; %w",
				addressOf([]string{url}), cfg.Name, addressesOf(members), ErrNoPlace)
		case len(members[i].ClientURLs) > 0:
			return false, fmt.Errorf("the cluster knows the member %s, whose data are not in %s: %w",
				cfg.Name, cfg.Dir, ErrDataLost)
		case members[i].Name != "":
			founders++ // it has founded a cluster in which this one has not been yet
			continue
		}
		cfg.ClusterState = embed.ClusterStateFlagExisting
		initial := []string{cfg.Name + "=" + own}
		for n, of := range members {
			if n != i {
				initial = append(initial, cmp.Or(of.Name, addressOf(of.PeerURLs))+"="+of.PeerURLs[0])
			}
		}
		cfg.InitialCluster = strings.Join(initial, ",")
		return true, nil
	}
	return founders > len(m.Peers)/2, nil
}

// dataOf returns where the member has its data.
func dataOf(cfg *embed.Config) string { return filepath.Join(cfg.Dir, "member") }

// others returns the URLs of the other peers.
func others(cfg *embed.Config) (all []string) {
	for _, peer := range strings.Split(cfg.InitialCluster, ",") {
		if _, url, _ := strings.Cut(peer, "="); url != cfg.AdvertisePeerUrls[0].String() {
			all = append(all, url)
		}
	}
	return all
}

// misplaced asks the other peers whether this member is one of their cluster, and returns why not.
func misplaced(ctx context.Context, cfg *embed.Config, server *etcdserver.EtcdServer, web *httpClient) error {
	for _, url := range others(cfg) {
		members, cluster, err := membersAt(ctx, url, web)
		switch {
		case err != nil:
			continue // it is not there
		case cluster != server.Cluster().ID().String():
			return fmt.Errorf("the data in %s are of another cluster than that of %s: %w", cfg.Dir, addressOf([]string{url}),
				ErrOtherCluster)
		case !slices.ContainsFunc(members, func(m membership.Member) bool { return m.ID == server.MemberID() }):
			return fmt.Errorf("the member whose data are in %s was removed from the cluster, whose members are %s: %w", cfg.Dir,
				addressesOf(members), ErrRemoved)
		}
	}
	return nil
}

// mistaken returns why a cluster that this member has found a majority of is not the one of its peers.
func mistaken(cfg *embed.Config, server *etcdserver.EtcdServer) error {
	own, known := cfg.AdvertisePeerUrls[0].String(), false
	for _, m := range server.Cluster().Members() {
		if m.ID == server.MemberID() && !slices.Contains(m.PeerURLs, own) {
			return fmt.Errorf("the data in %s are those of the member %s, and not of %s: %w", cfg.Dir, addressOf(m.PeerURLs),
				cfg.Name, ErrOtherMember)
		}
		known = known || slices.ContainsFunc(others(cfg), func(url string) bool { return slices.Contains(m.PeerURLs, url) })
	}
	if !known && max(len(others(cfg)), len(server.Cluster().Members())-1) > 0 {
		var all []membership.Member
		for _, m := range server.Cluster().Members() {
			all = append(all, *m)
		}
		return fmt.Errorf("the data in %s are of a cluster whose members are %s: %w", cfg.Dir, addressesOf(all),
			ErrOtherCluster)
	}
	return nil
}

// corrupt compares the database of this member with those of the others that are there. It returns why not, if it is like
// none of them: etcd itself would not notice.
func corrupt(ctx context.Context, cfg *embed.Config, server *etcdserver.EtcdServer, web *httpClient) error {
	own, _, err := server.KV().HashStorage().HashByRev(0)
	if err != nil {
		return err
	}
	var unlike []string
	for _, url := range others(cfg) {
		if _, _, err := membersAt(ctx, url, web); err != nil {
			continue // it is not there
		}
		other, err := etcdserver.HashByRev(ctx, server.Cluster().ID(), web, url, own.Revision)
		switch {
		case err != nil || other.CompactRevision != own.CompactRevision: // one of the two is behind
		case other.Hash == own.Hash:
			return nil
		default:
			unlike = append(unlike, addressOf([]string{url}))
		}
	}
	if len(unlike) > 0 {
		return fmt.Errorf("the database in %s has other bytes than those of %s: %w", cfg.Dir, strings.Join(unlike, " and "), ErrCorrupt)
	}
	return nil
}

func addressesOf(members []membership.Member) string {
	var all []string
	for _, m := range members {
		all = append(all, addressOf(m.PeerURLs))
	}
	return strings.Join(all, ", ")
}

var errNothing = errors.New("the member has nothing yet")

// membersAt asks a member who the members are, and of which cluster.
func membersAt(ctx context.Context, url string, web *httpClient) (all []membership.Member, cluster string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/members", nil)
	if err != nil {
		return nil, "", err
	}
	resp, err := web.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNoContent:
		return nil, "", errNothing
	default:
		return nil, "", errors.New(resp.Status)
	}
	return all, resp.Header.Get("X-Etcd-Cluster-Id"), json.NewDecoder(resp.Body).Decode(&all)
}

// promote has a member that was added have a vote, as soon as it has what the cluster has.
func promote(ctx context.Context, server *etcdserver.EtcdServer) error {
	for server.IsLearner() {
		one, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, err := server.PromoteMember(one, uint64(server.MemberID()))
		cancel()
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("the member has no vote yet: %w", err)
		}
		pause(ctx, 50*time.Millisecond)
	}
	return nil
}
