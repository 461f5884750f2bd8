package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/executor-go/executor/cmd/executord/internal/filelock"
	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// nodesSuffix is what the name of the list of daemons has behind that of the store.
const nodesSuffix = "-nodes"

// OpenForNode is Open for a daemon. In a file, daemons whose processes were killed do not keep what they held until their
// leases end, if none of the others is alive: dead has their names.
func OpenForNode(ctx context.Context, name string, o Options) (opened durable.Store, shown string, dead []string, err error) {
	o.Create, o.node = true, true
	if opened, shown, err = Open(ctx, name, o); err != nil || openerOf(name) != nil {
		return opened, shown, nil, err
	}
	node := &nodeStore{Full: opened, list: openList(name + nodesSuffix)}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if dead, err = node.bury(ctx); err != nil {
		node.Close()
		return nil, shown, nil, Explain(shown, err)
	}
	return node, shown, dead, nil
}

// nodeStore is a store in a file that a daemon uses. Beside it is a list of the daemons, on which each has a lock that it
// shares with the others. The kernel releases a lock when its process ends, however it ends: a daemon that has the list
// for itself knows that the others are dead.
type nodeStore struct {
	store.Full
	list *os.File // nil where there are no such locks
}

// openList opens the list, or makes it. It returns nil if it can't: then leases alone tell who is alive.
func openList(name string) *os.File {
	list, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND|noFollow, 0o600)
	if err != nil {
		return nil
	}
	return list
}

// bury declares the daemons of the list dead, if this one has it for itself, so that what they held goes on by the rules
// for a lost node, at once. It returns their names. Then this daemon shares the list.
func (s *nodeStore) bury(ctx context.Context) (dead []string, err error) {
	if s.list == nil {
		return nil, nil
	}
	if filelock.Alone(s.list) != nil { // who is alive is told by leases alone, if there are no locks
		return nil, filelock.Share(s.list) // which takes as long as it takes another daemon to bury some nodes
	}
	text, err := io.ReadAll(s.list)
	if err != nil {
		return nil, err
	}
	nodes, err := s.Full.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, node := range nodes {
		if slices.Contains(strings.Split(string(text), "\n"), node.Name) {
			if _, err := s.Full.Heartbeat(ctx, node.Name, -time.Second, store.Watch{}); err != nil {
				return nil, err
			}
			dead = append(dead, node.Name)
		}
	}
	if len(dead) > 0 { // a node that has not lost its own lease finds them
		undertaker := fmt.Sprintf("undertaker-%s", store.NewID())
		_, err = s.Full.Join(ctx, undertaker, time.Minute)
		if err == nil {
			_, err = s.Full.Heartbeat(ctx, undertaker, time.Minute, store.Watch{})
		}
		if err = errors.Join(err, s.Full.Leave(ctx, undertaker)); err != nil {
			return nil, err
		}
	}
	return dead, errors.Join(s.list.Truncate(0), filelock.Share(s.list))
}

// Join puts the node on the list before it is one of the store.
func (s *nodeStore) Join(ctx context.Context, node string, lease time.Duration) (time.Time, error) {
	if s.list != nil {
		s.list.WriteString(node + "\n") // else its lease tells that it is dead
	}
	return s.Full.Join(ctx, node, lease)
}

// Unwrap returns the store itself.
func (s *nodeStore) Unwrap() any { return s.Full }

// Close closes the store, and then the list, with the lock on it.
func (s *nodeStore) Close() error {
	err := s.Full.Close()
	if s.list != nil {
		s.list.Close()
	}
	return err
}
