package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// A wire is the network of some hosts, each of which is a process with a network of its own. It passes on what they send,
// late or not at all if it is to.
type wire struct {
	mu    sync.Mutex
	plugs map[byte]*os.File // of the hosts, by the last byte of their addresses
	lost  func(from, to byte) bool
	delay time.Duration
}

// wireNet is the network of a wire.
const wireNet = "10.77.0."

// wireMembers are the addresses of members on a wire. The last one takes the place of another.
var wireMembers = []string{wireNet + "1:2379", wireNet + "2:2379", wireNet + "3:2379", wireNet + "4:2379"}

// lose has the wire lose what goes from one host to another, until it is to lose something else.
func (w *wire) lose(lost func(from, to byte) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = lost
}

func (w *wire) setDelay(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay = d
}

// A packet is one that comes to its host later.
type packet struct {
	at   time.Time
	to   byte
	text []byte
}

// plug has the wire carry what a host sends and gets. The host that was there before is gone.
func (w *wire) plug(host byte, f *os.File) {
	w.mu.Lock()
	if old := w.plugs[host]; old != nil {
		old.Close()
	}
	w.plugs[host] = f
	w.mu.Unlock()
	way := make(chan packet, 10_000)
	go func() {
		defer close(way)
		for buf := make([]byte, 1<<16); ; {
			n, err := f.Read(buf)
			if err != nil {
				return
			}
			const version, destination = 0, 19 // in a packet of IPv4
			if n <= destination || buf[version]>>4 != 4 {
				continue
			}
			w.mu.Lock()
			p := packet{time.Now().Add(w.delay), buf[destination], append([]byte(nil), buf[:n]...)}
			lost := w.lost != nil && w.lost(host, p.to)
			w.mu.Unlock()
			if lost {
				continue
			}
			select {
			case way <- p:
			default: // too much is on its way
			}
		}
	}()
	go func() {
		for p := range way {
			time.Sleep(time.Until(p.at))
			w.mu.Lock()
			to := w.plugs[p.to]
			w.mu.Unlock()
			if to != nil {
				to.Write(p.text)
			}
		}
	}()
}

func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.plugs {
		f.Close()
	}
}

// openPlug gives this process, whose network is empty, the address of a host, and returns the plug of that.
func openPlug(host byte) (fd int, err error) {
	fd, err = syscall.Open("/dev/net/tun", syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, fmt.Errorf("/dev/net/tun: %w", err)
	}
	var device struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}
	copy(device.name[:], "wire")
	device.flags = syscall.IFF_TUN | syscall.IFF_NO_PI
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TUNSETIFF, uintptr(unsafe.Pointer(&device))); errno != 0 {
		return 0, fmt.Errorf("TUNSETIFF: %w", errno)
	}
	for _, args := range []string{"link set lo up", fmt.Sprintf("addr add %s%d/24 dev wire", wireNet, host), "link set wire mtu 9000 up"} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("ip %s: %w: %s", args, err, out)
		}
	}
	return fd, nil
}

// hostVariable says which host of the wire a process is.
const hostVariable = "EXECUTOR_TEST_HOST"

// The plug of a member is what it sends to the test first.
func init() {
	plugIn = func() error {
		text := os.Getenv(hostVariable)
		if text == "" {
			return nil
		}
		host, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return err
		}
		fd, err := openPlug(byte(host))
		if err != nil {
			return err
		}
		const toTest = 3
		return errors.Join(syscall.Sendmsg(toTest, []byte{byte(host)}, syscall.UnixRights(fd), nil, 0), syscall.Close(fd),
			syscall.Close(toTest))
	}
}

// hostOn returns the host of the wire that has an address.
func hostOn(address string) byte { return netip.MustParseAddrPort(address).Addr().As4()[3] }

// start starts a process as the host of the wire that has an address.
func (w *wire) start(address string, cmd *exec.Cmd) error {
	host := hostOn(address)
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	own, theirs := pair[0], os.NewFile(uintptr(pair[1]), "socket")
	defer syscall.Close(own)
	cmd.Env = append(cmd.Env, hostVariable+"="+strconv.Itoa(int(host)))
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		return err
	}
	control := make([]byte, syscall.CmsgSpace(4))
	_, n, _, _, err := syscall.Recvmsg(own, make([]byte, 1), control, 0)
	if err != nil {
		return err
	}
	messages, err := syscall.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) == 0 {
		return fmt.Errorf("host %d sends no plug: %w", host, err)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	w.plug(host, os.NewFile(uintptr(fds[0]), "plug"))
	return nil
}

// testHost is the host that is the test.
const testHost = 254

// onWire runs the test in a process with a network of its own, and returns nil; in that process it returns the wire, on
// which this is a host.
func onWire(t *testing.T) *wire {
	t.Helper()
	const variable = "EXECUTOR_TEST_WIRE"
	if os.Getenv(variable) != "" {
		fd, err := openPlug(testHost)
		if err != nil {
			t.Skip("there is no network to be had: ", err)
		}
		w := &wire{plugs: make(map[byte]*os.File)}
		w.plug(testHost, os.NewFile(uintptr(fd), "plug"))
		t.Cleanup(w.close)
		return w
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip(err)
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.count=1", "-test.v", "-test.timeout=0"}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), variable+"=1")
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		t.Skip("there is no network of its own to be had: ", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return nil
}

// wireFaults are those of a network, and of machines.
func (w *wire) faults() []fault {
	// cut has the wire lose some of the packets for a while.
	cut := func(d time.Duration, lost func(from, to byte) bool) {
		w.lose(lost)
		time.Sleep(d)
		w.lose(nil)
	}
	alone := func(host byte) func(from, to byte) bool {
		return func(from, to byte) bool { return (from == host) != (to == host) }
	}
	at := func(f *fleet, n int) byte { return hostOn(f.members[n].Self) }
	slow := func(delay time.Duration) func(*fleet, *Store) {
		return func(f *fleet, _ *Store) {
			w.setDelay(delay)
			time.Sleep(away)
			f.more(some)
			w.setDelay(0)
		}
	}
	return []fault{
		{"the leader is alone for 5 s", func(f *fleet, s *Store) { cut(5*time.Second, alone(at(f, f.leader(s)))) }},
		{"a follower is alone for 5 s", func(f *fleet, s *Store) { cut(5*time.Second, alone(at(f, f.follower(s)))) }},
		{"all are alone for 3 s", func(_ *fleet, s *Store) { cut(away, func(from, to byte) bool { return from != to }) }},
		{"the leader and a follower can't reach each other for 5 s, and both the third", func(f *fleet, s *Store) {
			a := f.leader(s)
			b := at(f, (a+1)%3)
			cut(5*time.Second, func(from, to byte) bool { return from == at(f, a) && to == b || from == b && to == at(f, a) })
		}},
		{"nothing comes from the leader for 5 s", func(f *fleet, s *Store) {
			lead := at(f, f.leader(s))
			cut(5*time.Second, func(from, _ byte) bool { return from == lead })
		}},
		{"nothing comes to the leader for 5 s", func(f *fleet, s *Store) {
			lead := at(f, f.leader(s))
			cut(5*time.Second, func(_, to byte) bool { return to == lead })
		}},
		{"the leader is alone for 3 s, and 3 s later the next one", func(f *fleet, s *Store) {
			cut(away, alone(at(f, f.leader(s))))
			time.Sleep(3 * time.Second)
			cut(away, alone(at(f, f.leader(s))))
		}},
		{"the lines take 2 ms", slow(2 * time.Millisecond)},
		{"the lines take 50 ms", slow(50 * time.Millisecond)},
		{"a machine is lost, and replaced by another one", func(f *fleet, s *Store) {
			n := f.follower(s)
			gone := f.members[n]
			f.kill(n)
			now := slices.Clone(gone.Peers)
			fresh := wireMembers[slices.IndexFunc(wireMembers, func(a string) bool { return !slices.Contains(now, a) })]
			now[n] = fresh
			ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
			defer cancel()
			if err := errors.Join(s.Replace(ctx, gone.Self, fresh), os.RemoveAll(gone.Dir)); err != nil {
				f.Fatal(err)
			}
			for i := range f.members {
				f.members[i].Peers = now // at their next start
			}
			f.members[n].Self = fresh
			f.start(n)
		}},
	}
}

// Whoever can't reach whom, silently, for a while or slowly, no occurrence is lost, and none is committed twice.
func TestMembersAreCutOff(t *testing.T) {
	t.Parallel()
	w := onWire(t)
	if w == nil {
		return
	}
	newFleet(t, wireMembers[:3], w.start).survive(w.faults())
}
