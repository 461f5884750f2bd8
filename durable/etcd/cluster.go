package etcd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
)

// MemberInfo is a member as the cluster knows it.
type MemberInfo struct {
	Peer    string // its address in Member.Peers, as host:port
	Client  string // its address for other programs, "" if it has never been there
	Leads   bool
	Learner bool   // it gets what it lacks, and has no vote yet
	Error   error  // why it does not answer; nil if it does
	Version string // of its etcd
	Used    int64  // bytes of its database that are in use
	Size    int64  // of its database
	Quota   int64  // see Member.Quota
}

// Members returns the members of the cluster, in the order of their addresses. Those that do not answer within a second
// have an Error.
func (s *Store) Members(ctx context.Context) ([]MemberInfo, error) {
	list, err := s.home.client.MemberList(ctx)
	if err != nil {
		return nil, explain(err)
	}
	var all []MemberInfo
	for _, m := range list.Members {
		info := MemberInfo{Peer: hostOf(m.PeerURLs), Client: hostOf(m.ClientURLs), Learner: m.IsLearner}
		if info.Error = errAway; info.Client != "" {
			info.Error = s.home.at(ctx, m.ClientURLs[0], func(ctx context.Context, c *clientv3.Client) error {
				st, err := c.Status(ctx, m.ClientURLs[0])
				if err == nil {
					info.Leads, info.Version = st.Leader == m.ID, st.Version
					info.Used, info.Size, info.Quota = st.DbSizeInUse, st.DbSize, st.DbSizeQuota
				}
				return err
			})
		}
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b MemberInfo) int { return cmp.Compare(a.Peer, b.Peer) })
	return all, nil
}

var errAway = errors.New("the member has not been there yet")

// at calls fn, for up to a second, with a client of one member.
func (h *home) at(ctx context.Context, url string, fn func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if slices.Contains(h.client.Endpoints(), url) {
		return fn(ctx, h.client)
	}
	one := Client{Endpoints: []string{hostOf([]string{url})}, TLS: h.tls, Logger: h.log}
	c, err := one.dial(h.quiet)
	if err != nil {
		return err
	}
	defer c.Close()
	return fn(ctx, c)
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
// of the members must be there. Replace may be repeated after an error.
func (s *Store) Replace(ctx context.Context, gone, fresh string) error {
	gone, fresh = withPort(gone, PeerPort), withPort(fresh, PeerPort)
	c := s.home.client
	list, err := c.MemberList(ctx)
	if err != nil {
		return explain(err)
	}
	scheme, waits := "http", false
	var remove []uint64
	for _, m := range list.Members {
		host := hostOf(m.PeerURLs)
		if strings.HasPrefix(m.PeerURLs[0], "https:") {
			scheme = "https"
		}
		if waits = waits || host == fresh && m.Name == ""; host == gone && m.Name != "" {
			remove = append(remove, m.ID)
		}
		if host == fresh && m.Name != "" && fresh != gone {
			return invalidf("%s is a member already", fresh)
		}
	}
	if len(remove) == 0 && !waits {
		return invalidf("%s is no member; see Members", gone)
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
	if waits {
		return nil
	}
	return s.home.reconfigure(ctx, func(ctx context.Context) error {
		_, err := c.MemberAddAsLearner(ctx, []string{scheme + "://" + fresh})
		if errors.Is(err, rpctypes.ErrPeerURLExist) {
			return nil // by an earlier try
		}
		return err
	})
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
	if _, err := s.home.newest(ctx); err != nil { // the member that answers is not behind
		return err
	}
	r, err := s.home.client.Snapshot(ctx)
	if err != nil {
		return explain(err)
	}
	defer r.Close()
	if _, err := io.Copy(w, r); err != nil {
		return fmt.Errorf("durable/etcd: %w", err)
	}
	return nil
}

// Restore makes the directory of a member, which must not be there, from a file that Backup has written. It must be
// called for each member, with the same file and the same Peers, while no member runs; then Join goes on with it. The
// jobs are as they were: what has ended since then runs again. The error matches executor.ErrInvalid if a field of m is
// wrong.
func Restore(m Member, file string) error {
	cfg, err := m.config()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(m.Dir, "member")); !errors.Is(err, fs.ErrNotExist) {
		return invalidf("directory %s has data already; restore into another one", m.Dir)
	}
	if err := os.Remove(m.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // it may be there, and empty
		return invalidf("directory %s is not empty; restore into another one", m.Dir)
	}
	quiet := new(atomic.Bool)
	quiet.Store(true)
	err = snapshot.NewV3(zapLogger(m.logger(), quiet)).Restore(snapshot.RestoreConfig{
		SnapshotPath: file, Name: cfg.Name, OutputDataDir: m.Dir, PeerURLs: []string{cfg.AdvertisePeerUrls[0].String()},
		InitialCluster: cfg.InitialCluster, InitialClusterToken: cfg.InitialClusterToken,
	})
	if err != nil {
		return fmt.Errorf("durable/etcd: %s can't be restored: %w", file, err)
	}
	return nil
}

// admit finds out what a member with an empty directory is: one of a new cluster, or one that Replace has made room
// for.
func (m *Member) admit(ctx context.Context, cfg *embed.Config, web *httpClient) error {
	if _, err := os.Stat(cfg.Dir + "/member"); err == nil {
		return nil // it goes on with what it has
	}
	own := cfg.AdvertisePeerUrls[0].String()
	for _, peer := range strings.Split(cfg.InitialCluster, ",") {
		_, url, _ := strings.Cut(peer, "=")
		if url == own {
			continue
		}
		members, err := membersAt(ctx, url, web)
		if err != nil {
			continue // it is not there
		}
		i := slices.IndexFunc(members, func(of membership.Member) bool { return slices.Contains(of.PeerURLs, own) })
		switch {
		case i < 0:
			return fmt.Errorf("%s is a member of a cluster that %s is none of: its members are %s; "+
				"make room for this one by Replace, or correct Peers",
				hostOf([]string{url}), cfg.Name, addressesOf(members))
		case len(members[i].ClientURLs) > 0:
			return fmt.Errorf("the cluster knows the member %s, whose data are not in %s: take the directory that it had or, "+
				"if its data are lost, replace it by itself (Replace)", cfg.Name, cfg.Dir)
		case members[i].Name != "":
			continue // this cluster is about to be founded
		}
		cfg.ClusterState = embed.ClusterStateFlagExisting
		initial := []string{cfg.Name + "=" + own}
		for n, of := range members {
			if n != i {
				initial = append(initial, cmp.Or(of.Name, hostOf(of.PeerURLs))+"="+of.PeerURLs[0])
			}
		}
		cfg.InitialCluster = strings.Join(initial, ",")
		return nil
	}
	return nil
}

func addressesOf(members []membership.Member) string {
	var all []string
	for _, m := range members {
		all = append(all, hostOf(m.PeerURLs))
	}
	return strings.Join(all, ", ")
}

// membersAt asks a member who the members are.
func membersAt(ctx context.Context, url string, web *httpClient) (all []membership.Member, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/members", nil)
	if err != nil {
		return nil, err
	}
	resp, err := web.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	return all, json.NewDecoder(resp.Body).Decode(&all)
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
