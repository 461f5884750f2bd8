package stores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/complaint"
	"github.com/executor-go/executor/cmd/executord/internal/exposure"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/etcd"
)

// clusterScheme begins the names of stores in etcd.
const clusterScheme = "etcd"

// ClusterHint says how a cluster is named.
const ClusterHint = "name a cluster by its members, as in --store etcd://10.0.0.1,10.0.0.2,10.0.0.3"

// A Cluster is a store in etcd, by its name: etcd://[USER:PASSWORD@]HOST,HOST,HOST[?KEY=VALUE&...]. Each HOST may have a
// port.
type Cluster struct {
	Hosts          []string
	User, Password string // of etcd that somebody else runs
	Data           string // data: the directory of the member that a daemon is, "" if it is none
	Self           string // self: which of Hosts that is; by default the one that is an address of this machine
	Listen         string // listen: the host at which the member is waited for
	Certificates   string // certificates: a directory with ca.crt, and HOST.crt and HOST.key of this machine
	Plain          bool   // tls=off: without TLS also to other machines
	Quota          int64  // quota: bytes of the database of the member, 0 for the default
}

// ParseCluster reads the name of a cluster. Its errors have no password.
func ParseCluster(name string) (c Cluster, err error) {
	rest, found := strings.CutPrefix(name, clusterScheme+"://")
	if !found {
		return c, errors.New("the store is no cluster: " + ClusterHint)
	}
	rest, query, _ := strings.Cut(rest, "?")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		user, password, _ := strings.Cut(rest[:i], ":")
		var bad [2]error
		c.User, bad[0] = url.PathUnescape(user)
		c.Password, bad[1] = url.PathUnescape(password)
		if errors.Join(bad[:]...) != nil || strings.ContainsAny(rest[:i], "/@") {
			return c, errors.New("the store's URL cannot be read: a character such as % / ? @ in the password is written as " +
				"%25 %2F %3F %40")
		}
		rest = rest[i+1:]
	}
	c.Hosts = strings.Split(strings.TrimSuffix(rest, "/"), ",")
	for _, host := range c.Hosts {
		if err := checkHost(host); err != nil {
			return c, err
		}
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return c, fmt.Errorf("what is behind the ? of the store %s cannot be read", c.Shown())
	}
	return c, c.set(values)
}

// checkHost refuses what is neither a host nor a host with a port.
func checkHost(text string) error {
	host, port := text, "1"
	if h, p, err := net.SplitHostPort(text); err == nil {
		host, port = h, p
	}
	n, err := strconv.Atoi(port)
	if host == "" || strings.ContainsAny(host, "/@ ") || err != nil || n < 1 || n > 65534 {
		return fmt.Errorf("the member %q of the cluster must be HOST or HOST:PORT, with a port from 1 to 65534: %s", text, ClusterHint)
	}
	return nil
}

// set takes the values behind the ? of a name.
func (c *Cluster) set(values url.Values) error {
	texts := map[string]*string{"data": &c.Data, "self": &c.Self, "listen": &c.Listen, "certificates": &c.Certificates}
	for key, all := range values {
		value := all[len(all)-1]
		text := texts[key]
		switch {
		case value == "":
			return fmt.Errorf("the value of %s is empty in the URL of the store %s", key, c.Shown())
		case text != nil:
			*text = value
		case key == "tls" && value == "off":
			c.Plain = true
		case key == "quota":
			mib, err := strconv.ParseInt(value, 10, 32)
			if err != nil || mib < 1 {
				return fmt.Errorf("quota=%s: it must be how many MiB the database may have", value)
			}
			c.Quota = mib << 20
		default:
			return fmt.Errorf("the store %s: %s=%s is unknown; there are data, self, listen, certificates, quota, and tls=off",
				c.Shown(), key, value)
		}
	}
	if c.Certificates == "" && c.Data != "" {
		if dir := filepath.Join(c.Data, "certificates"); exists(dir) {
			c.Certificates = dir
		}
	}
	return nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Name returns the name of a cluster with a member of this machine.
func (c Cluster) Name() string {
	values := url.Values{"data": {c.Data}}
	if c.Self != "" {
		values.Set("self", c.Self)
	}
	return c.Shown() + "?" + values.Encode()
}

// Shown returns by what name the cluster may be shown, which is also that for programs that are no members, if they need
// no certificates.
func (c Cluster) Shown() string { return clusterScheme + "://" + strings.Join(c.Hosts, ",") }

// files returns the certificates of this machine, nil if there is to be no TLS.
func (c Cluster) files() (*etcd.TLS, error) {
	switch {
	case c.Plain:
		return nil, nil
	case c.Certificates == "" && c.isLocal():
		return nil, nil
	case c.Certificates == "" && c.Data == "":
		return nil, errors.New("members on other machines need TLS: add ?certificates=DIR to the URL of the store, with ca.crt, " +
			"and the .crt and .key of this machine, in DIR (executord cluster certificates makes them), or ?tls=off if the network " +
			"keeps all others away")
	case c.Certificates == "":
		dir := filepath.Join(c.Data, "certificates")
		return nil, fmt.Errorf("members on other machines need TLS: make certificates with executord cluster certificates DIR %s, "+
			"and copy ca.crt, and the .crt and .key of this machine, to %s", strings.Join(c.names(), " "), dir)
	}
	tls := &etcd.TLS{CA: filepath.Join(c.Certificates, "ca.crt")}
	found, err := filepath.Glob(filepath.Join(c.Certificates, "*.crt"))
	if err != nil {
		return nil, err
	}
	own := ""
	if c.Self != "" {
		own = filepath.Join(c.Certificates, hostOf(c.Self)+".crt")
	}
	for _, name := range found {
		switch {
		case name == tls.CA || own != "" && name != own:
		case tls.Cert != "":
			return nil, fmt.Errorf("%s has several certificates: leave ca.crt, and the .crt and .key of this machine, there", c.Certificates)
		default:
			tls.Cert, tls.Key = name, strings.TrimSuffix(name, ".crt")+".key"
		}
	}
	if tls.Cert == "" {
		return nil, fmt.Errorf("%s has no certificate of this machine: copy ca.crt there, and its .crt and .key, which executord "+
			"cluster certificates makes", c.Certificates)
	}
	return tls, nil
}

// Exposed returns the private key of this machine, if it is open to others.
func (c Cluster) Exposed() []exposure.Exposed {
	if tls, err := c.files(); err == nil && tls != nil {
		return exposure.Secrets(tls.Key)
	}
	return nil
}

// names returns the hosts without their ports.
func (c Cluster) names() (all []string) {
	for _, host := range c.Hosts {
		all = append(all, hostOf(host))
	}
	return all
}

func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// isLocal reports whether all members are on this machine, and can be reached from there only.
func (c Cluster) isLocal() bool {
	for _, name := range c.names() {
		if !isLocal(name) {
			return false
		}
	}
	return true
}

// Client returns how a program that is no member reaches the cluster. The log of the library is discarded: its errors say
// enough.
func (c Cluster) Client() (etcd.Client, error) {
	tls, err := c.files()
	if err != nil {
		return etcd.Client{}, err
	}
	return etcd.Client{Endpoints: c.Hosts, TLS: tls, Username: c.User, Password: c.Password, Logger: slog.New(slog.DiscardHandler)}, nil
}

// Member returns how a daemon is a member of the cluster. It makes the directory.
func (c Cluster) Member(log *slog.Logger) (etcd.Member, error) {
	tls, err := c.files()
	if err == nil {
		err = makeDirectory(c.Data)
	}
	return etcd.Member{
		Peers: c.Hosts, Self: c.Self, Dir: filepath.Join(c.Data, "etcd"), Listen: c.Listen, TLS: tls, Insecure: c.Plain,
		Quota: c.Quota, Logger: log,
	}, err
}

// makeDirectory makes the directory of a member, that others may not read: commands and their variables are in it.
func makeDirectory(name string) error {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("--data %s is not a directory", name)
	case err == nil:
		return exposure.Directory(name, info)
	case errors.Is(err, fs.ErrNotExist):
		err = os.MkdirAll(name, 0o700)
	}
	if err != nil {
		return fmt.Errorf("the directory %s cannot be made: %w", name, complaint.Cause(err))
	}
	return nil
}

// openCluster opens a store in etcd: as a member for a daemon that has a directory for that, else as a program that is none.
func openCluster(ctx context.Context, name string, o Options) (durable.Store, string, error) {
	c, err := ParseCluster(name)
	if err != nil {
		return nil, "", err
	}
	shown := c.Shown()
	var store *etcd.Store
	if o.Log != nil {
		exposure.Log(o.Log, c.Exposed())
	}
	if o.node && c.Data != "" {
		store, err = c.join(ctx, o.Log)
	} else {
		store, err = c.dial(ctx, o)
	}
	if err != nil {
		return nil, "", Explain(shown, err)
	}
	return store, shown, nil
}

// join makes the daemon a member, however long the others take to come.
func (c Cluster) join(ctx context.Context, log *slog.Logger) (*etcd.Store, error) {
	m, err := c.Member(log)
	if err != nil {
		return nil, err
	}
	state := "it begins anew, with the others or by what they have"
	if exists(filepath.Join(m.Dir, "member")) {
		state = "it goes on with what it has"
	}
	log.Info("joining the cluster", "members", c.Hosts, "data", c.Data, "state", state)
	began := time.Now()
	store, err := etcd.Join(ctx, m)
	if err == nil {
		log.Info("cluster joined", "took", time.Since(began).Round(time.Millisecond).String(), "store", c.Shown())
	}
	return store, err
}

// Silence is how long a command waits for a cluster of which no member answers, and then for any of its members: a person
// waits for the command, and can ask again.
const Silence = 5 * time.Second

// dial reaches the cluster, or says after a while who is there.
func (c Cluster) dial(ctx context.Context, o Options) (*etcd.Store, error) {
	of, err := c.Client()
	if err != nil {
		return nil, err
	}
	waits := []time.Duration{o.Wait}
	if !o.node && o.Wait > Silence {
		waits = []time.Duration{Silence, o.Wait - Silence}
	}
	var members []etcd.MemberInfo
	for _, wait := range waits {
		dialing, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		store, err := etcd.Dial(dialing, of)
		if err == nil || dialing.Err() == nil || ctx.Err() != nil {
			return store, err
		}
		asking, cancel := context.WithTimeout(ctx, min(wait, Silence))
		defer cancel()
		if members, err = etcd.Members(asking, of); err != nil {
			return nil, fmt.Errorf("none of its members answers: see that executord run --cluster runs on them, and that "+
				"the ports are theirs (%w)", err)
		}
	}
	if slices.ContainsFunc(members, func(m etcd.MemberInfo) bool { return m.Leads }) {
		return nil, fmt.Errorf("it has not answered within %v; %s", o.Wait, Quorum(members))
	}
	return nil, errors.New(Quorum(members))
}

// Quorum says how many of the members are there, and what that means.
func Quorum(members []etcd.MemberInfo) string {
	voters, there := 0, 0
	for _, m := range members {
		if m.Learner {
			continue
		}
		if voters++; m.Error == nil {
			there++
		}
	}
	need := voters/2 + 1
	text := fmt.Sprintf("%d of %d members are there", there, voters)
	switch {
	case there < need:
		return fmt.Sprintf("%s, and %d are needed: nothing runs until then. Start the others, or if their disks are lost, restore a "+
			"backup", text, need)
	case there == need && voters > 1:
		return text + ": if one more is lost, nothing runs"
	case there == need:
		return text
	}
	return fmt.Sprintf("%s: the cluster survives the loss of %d more", text, there-need)
}

// advice has what to do with executord, by the errors of a member that does not fit the cluster.
var advice = map[error]string{
	etcd.ErrNoPlace: "make room for it with executord cluster replace OLD NEW, or correct --cluster",
	etcd.ErrDataLost: "name the directory that it had by --data or, if its data are lost, run executord cluster replace with this " +
		"member twice, and start it again",
	etcd.ErrOtherCluster: "correct --data or --cluster; if nothing of those data is needed, remove them, run executord cluster replace " +
		"with this member twice, and start it again",
	etcd.ErrCorrupt: "find out what is wrong with its disk, remove the data, run executord cluster replace with this member twice, and " +
		"start it again",
	etcd.ErrOtherMember: "correct --data: each member needs its own",
	etcd.ErrRemoved:     "to have it come back, remove its data, and make room for it with executord cluster replace",
}

// ofCluster returns what an error of the library is in the words of executord.
func ofCluster(err error) string {
	text := strings.TrimPrefix(err.Error(), "durable/etcd: ")
	for is, what := range advice {
		if errors.Is(err, is) {
			return strings.ReplaceAll(text, is.Error(), what)
		}
	}
	return strings.NewReplacer("set Self to", "name by --self", "Self ", "--self ", "raise Member.Quota of all members",
		"raise quota=MIB in the URL of --store of all members").Replace(text)
}
