package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

const (
	upkeepEvery = time.Minute
	upkeepTurn  = 10 * time.Minute // of each member
	worthwhile  = 8 << 20          // how many free bytes a database has that is worth to be written anew
)

// keep has this program look after the member in it, until the store is closed.
func (h *home) keep(server *embed.Etcd) {
	h.server = server
	h.going.Go(func() {
		select {
		case err := <-server.Err():
			h.fail(fmt.Errorf("durable/etcd: the member has failed: %w", err))
		case <-server.Server.StopNotify():
			h.fail(errors.New("durable/etcd: the member has stopped: it was removed from the cluster, or its log tells why"))
		case <-h.over.Done():
		}
	})
	h.going.Go(func() {
		complained := time.Time{}
		for h.over.Err() == nil {
			if text, err := h.upkeep(h.over); err != nil && h.over.Err() == nil {
				h.log.Warn("durable/etcd: the database of this member can't be looked after", "error", err)
			} else if text != "" && time.Since(complained) > time.Hour {
				complained = time.Now()
				h.log.Error("durable/etcd: " + text)
			}
			pause(h.over, upkeepEvery)
		}
	})
}

// upkeep returns what to complain of if the database of this member is nearly full. If much of the file is free, it has
// the file written anew, when it is the turn of this member: that takes some seconds for each gigabyte, in which the
// member does not answer.
func (h *home) upkeep(ctx context.Context) (complaint string, err error) {
	s, err := h.client.Status(ctx, "")
	if err != nil {
		return "", err
	}
	quota := s.DbSizeQuota
	if s.DbSize-s.DbSizeInUse > max(worthwhile, s.DbSize/2) && h.isTurn(ctx, s) {
		h.server.Server.TryTransferLeadershipOnShutdown() // if it leads; else the lead changes hands by an election
		if err := h.server.Server.Defragment(); err != nil {
			return "", err
		}
		if s, err = h.client.Status(ctx, ""); err != nil {
			return "", err
		}
	}
	if alarms, err := h.client.AlarmList(ctx); err == nil && s.DbSize < quota/10*9 {
		for _, a := range alarms.Alarms { // a member had no space left, and is like this one, or is there no more
			if a.Alarm == pb.AlarmType_NOSPACE {
				if _, err := h.client.AlarmDisarm(ctx, (*clientv3.AlarmMember)(a)); err != nil {
					return "", err
				}
			}
		}
	}
	if s.DbSizeInUse < quota/4*3 {
		return "", nil
	}
	return fmt.Sprintf("the database has %d of %d MB, and when it is full all writes fail: keep less "+
		"(durable.Config.Keep and History, shorter outputs and payloads), or raise Member.Quota of all members, one after the other", s.DbSizeInUse>>20, quota>>20), nil
}

// isTurn reports whether this member may not answer for a while: each has its time, and all others must be there.
func (h *home) isTurn(ctx context.Context, s *clientv3.StatusResponse) bool {
	list, err := h.client.MemberList(ctx)
	now, unknown := h.clock.now()
	if err != nil || unknown != nil {
		return false
	}
	slices.SortFunc(list.Members, func(a, b *pb.Member) int { return cmp.Compare(a.ID, b.ID) })
	turn, n := now.Truncate(upkeepTurn), int64(len(list.Members))
	of := list.Members[turn.Unix()/int64(upkeepTurn/time.Second)%n]
	if of.ID != s.Header.MemberId || n > 1 && now.Sub(turn) > upkeepTurn/2 { // the next one is not to begin before this one is back
		return false
	}
	for _, m := range list.Members {
		if len(m.ClientURLs) == 0 || !h.answers(ctx, m.ClientURLs[0]) {
			return false
		}
	}
	return true
}

// answers reports whether there is a member at a URL.
func (h *home) answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, _, err := askTime(ctx, h.clock.http, url+clockPath)
	return err == nil
}
