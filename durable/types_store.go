package durable

import (
	"time"

	"github.com/executor-go/executor/durable/store"
)

// These are for authors of stores, who find them in package store.
type (
	Begin           = store.Begin
	Change          = store.Change
	ClaimRequest    = store.ClaimRequest
	ClaimResult     = store.ClaimResult
	CommitRequest   = store.CommitRequest
	CommitResult    = store.CommitResult
	Confirm         = store.Confirm
	DeadJob         = store.DeadJob
	HeartbeatResult = store.HeartbeatResult
	KindLimit       = store.KindLimit
	Listener        = store.Listener
	Op              = store.Op
	Placement       = store.Placement
	Ref             = store.Ref
	Report          = store.Report
	TxStore         = store.TxStore
	Watch           = store.Watch
)

// The changes of a job, see Op.
const (
	OpCancel     = store.OpCancel
	OpPause      = store.OpPause
	OpResume     = store.OpResume
	OpReschedule = store.OpReschedule
	OpRunNow     = store.OpRunNow
	OpRevive     = store.OpRevive
	OpDelete     = store.OpDelete
)

// ReapDelay is store.ReapDelay.
func ReapDelay(lost Ref, attempt int) time.Duration { return store.ReapDelay(lost, attempt) }
