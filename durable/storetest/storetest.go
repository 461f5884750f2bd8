// Package storetest has a test suite for implementations of [store.Store], as testing/fstest has one for file systems.
// A store for durable jobs should pass [Run]:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) *mystore.Store {
//			s, err := mystore.Open(filepath.Join(t.TempDir(), "jobs.db"))
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { s.Close() })
//			return s
//		})
//	}
//
// [RunTx] tests a store with transactions. [RunFaults] tests what the store's callers are told when its statements
// fail, and [FuzzFilters] tests List and Counts with random filters.
package storetest

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/executor-go/executor/durable"
	"github.com/executor-go/executor/durable/store"
)

// Run runs the suite. Its subtests run in parallel. Each of them calls open once. open returns an empty store that no
// other subtest uses, and arranges to close it, as with t.Cleanup. A store need not implement all of [store.Full]: a
// test of an optional part that the store lacks is skipped, and names the part.
//
// The calls of a store may decide by what they have read, and commit later, if that is still so, else decide again. Such
// a store should have a method Between(fn func()) for the suite: until it is called with nil, each call that has decided
// calls fn before its commit, from the goroutine of the call and without a lock. The suite has another call come there,
// for each pair of calls that concern each other.
func Run[S store.Store](t *testing.T, open func(t *testing.T) S) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			defer unexpected(t)
			test.run(&bench{TB: t, store: newPartial(open(t))})
		})
	}
	for _, m := range meetings {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			defer unexpected(t)
			meet(m)(&bench{TB: t, store: newPartial(open(t))})
		})
	}
}

var tests = []struct {
	name string
	run  func(*bench)
}{
	{"InsertKeepsEveryField", insertKeepsEveryField},
	{"InsertCountsDelayFromTheStoresClock", insertCountsDelay},
	{"InsertTakesAnyTime", insertDue1970},
	{"InsertTwiceAddsOnce", insertTwice},
	{"InsertWithTakenKeyGivesTheFirst", insertTakenKey},
	{"InsertWithKeyOfAnotherKindSaysSo", insertKindTaken},
	{"InsertOfSeveralTreatsEachByItsKey", insertSet},
	{"InsertOfSeveralIsAllOrNothing", insertSetTaken},
	{"InsertSamePeriodicKeepsItsTimes", insertSamePeriodic},
	{"InsertNewPayloadKeepsItsTimes", insertNewPayload},
	{"InsertOtherScheduleBeginsAnew", insertOtherSchedule},
	{"InsertOtherScheduleDuringRunWaitsForItsEnd", insertOtherScheduleDuringRun},
	{"InsertOfWhatIsOverKeepsItNoLonger", insertOver},
	{"InsertGivesNearJobsToTheNode", insertForNode},
	{"InsertForDeadNodeWaits", insertForDeadNode},
	{"InsertKeepsMetaToTheClaim", insertKeepsMeta},
	{"InsertOfOtherMetaIsNoChange", insertOtherMeta},
	{"InsertReusesTheKeyOfAJobThatIsOver", reuseKeyOfDone},
	{"InsertReusesNoKeyOfAJobThatIsNotOver", reuseKeyOfLive},
	{"InsertDuringARunAsksForAnother", reuseDuringRun},
	{"ReuseKeyKeepsAScheduleThatIsBeingCanceled", reuseSchedule},
	{"InsertTreatsAnAbsentScheduleAsDeleted", absentSchedule},
	{"ChangeOfSeveralIsThatOfEach", changeEach},
	{"InsertReplacesWhatWaits", replaces},
	{"InsertReplacesThePayloadOfWhatWaits", replacesPayload},
	{"InsertReplacesThePayloadOfWhatHasBegun", replacesPayloadOfBegun},
	{"InsertReplacesTheUntried", replacesUntried},
	{"InsertTwiceReusesAKeyOnce", reuseKeyTwice},
	{"InsertsTogetherReuseAKeyOnce", reuseKeyTogether},
	{"KeyIsUniqueAmongStates", uniqueStates},
	{"KeyOfAScheduleIsItsOwn", uniqueSparesSchedules},
	{"InsertsTogetherTakeAKeyOnce", uniqueTogether},

	{"ClaimTakesTheEarliest", claimEarliest},
	{"ClaimTakesTheMoreUrgentFirst", claimUrgent},
	{"ClaimLooksAheadNoFurtherThanAsked", claimAhead},
	{"ClaimTakesOnlyKindsAsked", claimKinds},
	{"ClaimObeysLimits", claimLimits},
	{"ClaimGivesEachJobOnce", claimOnce},
	{"ClaimOfDeadNodeGivesNothing", claimDeadNode},
	{"ClaimedJobIsNotGivenAgain", claimNotAgain},
	{"ClaimSaysIfThereIsMore", claimMore},
	{"ClaimObeysGlobalLimits", globalLimit},
	{"ClaimObeysPriorityWithinGlobalLimit", globalLimitOrder},
	{"ClaimsTogetherObeyGlobalLimits", globalLimitTogether},
	{"ClaimObeysRates", rateLimit},
	{"ClaimWithTokensLeftNamesNoTime", rateNext},
	{"ClaimAheadTakesALaterToken", rateAhead},
	{"ClaimObeysPriorityWithinRate", rateOrder},
	{"ClaimObeysRateAndGlobalLimit", rateWithGlobal},
	{"ClaimObeysTheRateAsItIsNow", rateQuicker},
	{"ClaimsTogetherObeyRates", rateTogether},
	{"ClaimObeysPartitionLimits", partitionLimit},
	{"ClaimGivesPartitionsTurns", partitionTurns},
	{"ClaimPassesPartitionsThatAreFull", partitionHoldsUpNone},
	{"ClaimObeysPriorityBeforeTurns", partitionOrder},
	{"ClaimDoesNotBoundJobsWithoutPartition", partitionNone},
	{"ClaimWithoutPartitionLimitIsAsEver", partitionUnlimited},
	{"ClaimFindsWhatWaitsAnewInAPartition", partitionWaitsAnew},
	{"ClaimObeysPartitionAndOtherLimits", partitionWithOthers},
	{"ClaimsTogetherObeyPartitionLimits", partitionTogether},

	{"ClaimOfAQueueTakesWhatIsInIt", claimQueue},
	{"ClaimOfAQueueTakesTheMoreUrgentFirst", claimQueueOrder},
	{"QueueOutlastsRuns", queueStays},
	{"QueueOfAJobChanges", queueMoves},
	{"MoveIsForTheNextClaim", moves},
	{"ClaimOfAQueueObeysLimits", queueLimits},
	{"QueuesAreThoseThatJobsWaitIn", queueCounts},
	{"BeatLooksInQueues", beatLooksInQueues},

	{"ConfirmCountsNoAttempt", confirmRuns},
	{"BeginCountsOneAttempt", beginCounts},
	{"BeginWithOldEpochCountsNothing", beginOldEpoch},
	{"ConfirmAfterCancelIsRefused", confirmAfterCancel},
	{"ConfirmStoresTheOccurrence", confirmOccurrence},
	{"ConfirmWithOldEpochChangesNothing", confirmOldEpoch},
	{"ConfirmedOccurrenceOutlivesTheNode", confirmedOccurrenceStays},
	{"SettleEndsTheJob", settleEnds},
	{"SettleTwiceIsOneCommit", settleTwice},
	{"SettleWithOldEpochIsRefused", settleOldEpoch},
	{"SettleMakesTheNextOccurrenceWait", settleNext},
	{"SettleKeepsTheLatestRuns", settleHistory},
	{"SettleTakesAnyLengthOfHistory", settleLongHistory},
	{"SettleWithoutHistoryKeepsNone", settleNoHistory},
	{"SettleSaysWhatWasBefore", settleSaysWhatWasBefore},
	{"SettleKeepsTheHistoryShortOfWhatIsRevived", settleRevivedHistory},
	{"SettleOfManyAnswersForEach", settleMany},
	{"SettleWithoutResultKeepsTheOneBefore", settleWithoutResult},
	{"SettleKeepsBinaryResults", settleBinary},
	{"SettleKeepsTheErrorsOfRunAndJobApart", settleBothErrors},
	{"SettleKeepsTheLabelOfTheLastRun", settleLabel},

	{"BeatKeepsTheLease", beatKeeps},
	{"BeatFreesWhatDeadNodesHold", beatFrees},
	{"BeatCountsNoAttemptOfWhatNeverBegan", beatSpares},
	{"BeatTellsTheDeadNode", beatTellsDead},
	{"BeatBuriesAJobThatKillsItsNodes", beatBuries},
	{"BeatBuriesAPeriodicJobThatKillsItsNodes", beatBuriesPeriodic},
	{"BeatKeepsTheLostApart", beatScatters},
	{"BeatCancelsTheLostThatWasToBeCanceled", beatCancelsTheLost},
	{"BeatTellsWhatIsToBeCanceled", beatTellsCanceled},
	{"BeatDoesWhatWasWishedOfTheLost", beatFulfills},
	{"BeatOfALateNodeSparesTheOthers", beatLate},
	{"BeatLooksAsAClaimWould", beatLooks},
	{"ReleaseTakesTheAttemptBack", releaseTakesBack},
	{"ReleaseLosesNothingMissed", releaseAnew},
	{"ReleaseKeepsWhatIsNamed", releaseKeeps},
	{"ReleaseDoesWhatWasWished", releaseFulfills},
	{"ReleaseOfDeadNodeLeavesNothing", releaseDead},
	{"LeaveFreesEverything", leaveFrees},

	{"CancelOfWaitingIsFinal", cancelWaiting},
	{"CancelOfRunningWaitsForItsEnd", cancelRunning},
	{"CancelOfDoneIsTooLate", cancelDone},
	{"CancelOfRunningIsNotTakenBack", cancelStays},
	{"ChangeOfUnknownJobIsNotFound", changeUnknown},
	{"PausedJobIsNotClaimed", pauseAndResume},
	{"PauseOfRunningWaitsForItsEnd", pauseRunning},
	{"RescheduleMovesTheTime", reschedule},
	{"RescheduleMovesAnOccurrenceThatWasNotBegun", rescheduleMovesOccurrence},
	{"RescheduleOfRunningPeriodicMovesTheNext", rescheduleRunning},
	{"RescheduleDuringTheLastRunAddsOne", rescheduleLast},
	{"RunNowMakesItDue", runNow},
	{"SetBackGivesAScheduleOtherTimes", setsBack},
	{"SetBackOfRunningIsForTheNext", setsBackRunning},
	{"SetBackShowsUntilThereAreOtherTimes", setBackShows},
	{"ReviveBringsTheDeadBack", revive},
	{"NoteSetsResult", notes},
	{"ReviveLeavesSchedulesWithoutKeyEnded", reviveWithoutKey},
	{"DeleteRemovesWhatDoesNotRun", deletes},

	{"KeepStepKeepsAnyBytes", keepsSteps},
	{"KeepStepTwiceKeepsTheFirst", keepsStepsOnce},
	{"KeepStepOfAZombieIsRefused", keepsNoStepsOfZombies},
	{"KeepStepIsBeforeTheNextRun", keepsStepsBeforeTheNextRun},
	{"KeepStepIsForTheNextRun", keepsStepsForTheNextRun},
	{"KeepStepIsForOneOccasion", keepsStepsOfOneOccasion},
	{"KeepStepIsNotForAnotherAsk", keepsNoStepsOfAnotherAsk},
	{"KeptStepsGoWithTheJob", stepsGoWithTheJob},
	{"SignalMayComeBefore", signalBefore},
	{"SignalWakesWhatWaitsForIt", signalWakes},
	{"SignalWakesWhatIsClaimed", signalWakesClaimed},
	{"SignalWakesWhatWaitsInAPartition", signalWakesPartition},
	{"SignalDuringTheEndIsNotMissed", signalDuringTheEnd},
	{"SignalsAndEndsTogetherMissNothing", signalsTogether},
	{"SignalCountsOnce", signalOnce},
	{"SignalRemovesThoseOfEarlierOccurrences", signalRemovesEarlier},

	{"ParentsReleaseTheirChild", graphReleases},
	{"ParentsAndChildrenAreReadInPages", graphPages},
	{"ChildrenAreCounted", countChildren},
	{"SomeParentsReleaseAChildThatNeedsNoMore", graphNeedsSome},
	{"ParentsThatFailCancelTheirChildren", graphCancels},
	{"ParentsThatFailCountWhereTheyMay", graphAnyway},
	{"ParentsEndByEveryCall", graphAllEnds},
	{"ParentsThatHaveEndedCountAtOnce", graphAfterEnded},
	{"ParentsAreAddedWithTheirChildren", graphInOneList},
	{"ParentsAreAddedOnce", graphOnce},
	{"BlockedJobIsChanged", graphChanges},
	{"ReviveWaitsForParentsThatHaveNotEnded", graphRevives},
	{"BlockedIsNotPaused", graphLists},
	{"ParentsAreKeptForTheirChildren", graphKeepsParents},
	{"ParentsGoWithTheirChild", graphGoesWithTheJob},
	{"ParentsThatEndTogetherCountOnce", graphTogether},

	{"ExportHasJobsAsTheyAre", exportsAll},
	{"ImportHasEverythingAsItWas", importsAll},
	{"ImportFreesWhatANodeHad", importFrees},
	{"ImportIsAllOrNothing", importIsAllOrNothing},

	{"PackTakesJobsWithWhatBelongsToThem", packsAll},
	{"PackLeavesWhatIsHeldOrHasAFamily", packLeaves},
	{"PackResumesWhatIsAskedFor", packResumes},
	{"PackTakesSomeOfWhatIsLarge", packsSome},
	{"UnpackedJobsRun", unpackedRuns},
	{"UnpackAddsOnce", unpacksOnce},
	{"UnpackIsAllOrNothing", unpackIsAllOrNothing},

	{"NowIsBetweenOtherAnswers", nowBetween},
	{"GetAndFindKnowNothingUnknown", getUnknown},
	{"ListGivesPages", listPages},
	{"ListFilters", listFilters},
	{"ListTakesAnyPrefix", listPrefixes},
	{"ListTakesAnyTime", listAnyTime},
	{"ListKnowsWhatHasBegun", listBegun},
	{"ListAndCountsAgreeWithFilters", filtersAgree},
	{"CountsAreOfTheFilter", countsFiltered},
	{"TagsAreKept", tagsKept},
	{"TagsOfSeveralAreTheirOwn", tagsOfSeveral},
	{"TagsGivePages", tagsInPages},
	{"TagsOfAPeriodicJobChange", tagsOfPeriodicChange},
	{"TagsAreReplaced", tagsReplaced},
	{"TagsOutlastTheKey", tagsOutlastKey},
	{"TagsOutlastRuns", tagsOutlastRuns},
	{"TagsGoWithTheJob", tagsGo},
	{"KindsAreThoseThatWait", kindsWait},
	{"CountsHaveEachJobOnce", countsAll},
	{"PausedKindsAreThoseThatArePaused", pausedKinds},
	{"ActsAreKeptInOrder", acts},
	{"NodeDrainsUntilItDoesNot", drainNode},
	{"NodeThatDrainsIsGivenNothing", drainedTakesNothing},
	{"NodesAreThoseThatAreAlive", nodesAlive},
	{"ProgressIsThatOfTheRunInProgress", progressOfRuns},
	{"ProgressOfManyIsOneReport", progressOfMany},
	{"LatestReturnsPages", latestPages},
	{"LatestFilters", latestFilters},
	{"LatestRunsHaveTheirQueues", latestHaveQueues},
	{"OutputGoesWithTheHistory", outputKept},
	{"DeadAreTheLatest", deadLatest},
	{"PruneRemovesWhatIsOld", prune},
	{"PruneCountsWhatItRemoves", pruneCounts},
	{"PruneRemovesOldRuns", pruneHistory},
	{"PruneKeepsWhatRuns", pruneKeepsBegun},
}

const lease = time.Hour

// patience is how long the suite goes on without any progress. Tests change it.
var patience = 30 * time.Second

// bench is a store under test.
type bench struct {
	testing.TB
	store partial
}

// failure is what must panics with, for unexpected to take.
type failure struct{ text string }

// must returns v, and ends the test if there was an error. It is for the goroutine
// of the test only.
func must[T any](v T, err error) T {
	if err != nil {
		_, file, line, _ := runtime.Caller(1)
		panic(failure{fmt.Sprintf("%s:%d: %v", filepath.Base(file), line, err)})
	}
	return v
}

// unexpected, deferred, has the error that must has met fail this test alone.
func unexpected(t testing.TB) {
	switch v := recover().(type) {
	case nil:
	case failure:
		t.Error(v.text)
	case lacking:
		t.Skip("the store has no", string(v))
	default:
		panic(v)
	}
}

func (b *bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// job returns a job that is due after the delay, which may be negative.
func job(delay time.Duration, change ...func(*durable.NewJob)) durable.NewJob {
	j := durable.NewJob{ID: durable.NewID(), Kind: "k", Payload: []byte(`{"a":1}`), Schedule: "once", Delay: delay, Attempts: 3}
	for _, f := range change {
		f(&j)
	}
	return j
}

func key(key string) func(*durable.NewJob) { return func(j *durable.NewJob) { j.Key = key } }

func every(d string) func(*durable.NewJob) {
	return func(j *durable.NewJob) { j.Schedule, j.Missed = "rate "+d, "coalesce" }
}

// add inserts a job that waits for any node.
func (b *bench) add(delay time.Duration, change ...func(*durable.NewJob)) durable.Job {
	b.Helper()
	return b.insert(job(delay, change...), store.Placement{}).Job
}

func (b *bench) insert(j durable.NewJob, p store.Placement) durable.InsertResult {
	b.Helper()
	placed, err := b.store.Insert(b.Context(), []durable.NewJob{j}, p)
	b.ok(err)
	if len(placed) != 1 {
		b.Fatalf("Insert of one job gave %d", len(placed))
	}
	return placed[0]
}

// node joins a node.
func (b *bench) node(name string) string {
	b.Helper()
	now, err := b.store.Join(b.Context(), name, lease)
	b.ok(err)
	if now.IsZero() {
		b.Fatal("Join returned no time")
	}
	return name
}

// claim claims up to ten jobs of kind k that are due within a minute.
func (b *bench) claim(node string) []durable.Job {
	b.Helper()
	return b.claimBy(store.ClaimRequest{Node: node, Ahead: time.Minute, Lead: time.Second, Limit: 10,
		Kinds: []store.KindLimit{{Kind: "k", Max: 10}}})
}

func (b *bench) claimBy(r store.ClaimRequest) []durable.Job {
	b.Helper()
	claims, err := b.store.Claim(b.Context(), r)
	b.ok(err)
	if claims.Now.IsZero() {
		b.Fatal("Claim returned no time")
	}
	return claims.Jobs
}

// claimOne is claim where there is one job to be had.
func (b *bench) claimOne(node string) durable.Job {
	b.Helper()
	jobs := b.claim(node)
	if len(jobs) != 1 {
		b.Fatalf("claimed %d jobs, want 1", len(jobs))
	}
	return jobs[0]
}

// running adds a job that is due, which the node begins.
func (b *bench) running(node string, change ...func(*durable.NewJob)) durable.Job {
	b.Helper()
	b.add(-time.Second, change...)
	jobs := b.claim(node)
	if len(jobs) != 1 || jobs[0].State != durable.Confirmed {
		b.Fatalf("claimed %+v, want one that is confirmed", jobs)
	}
	return b.begin(node, jobs[0])
}

// begin notes that the node has begun a job.
func (b *bench) begin(node string, j durable.Job) durable.Job {
	b.Helper()
	started := must(b.store.Now(b.Context()))
	begin := store.Begin{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}, Started: started}
	must(b.store.Commit(b.Context(), store.CommitRequest{Node: node, Begun: []store.Begin{begin}}))
	got := b.state(j.ID, durable.Running)
	if !got.Started.Equal(started) || got.Attempt != j.Attempt+1 {
		b.Fatalf("begun at %v, the job is %+v", started, got)
	}
	return got
}

// outcome returns the success of a run.
func outcome(j durable.Job) durable.Outcome {
	return durable.Outcome{
		Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}, State: durable.Succeeded,
		Due: j.Due, Occurrence: j.Occurrence, Result: []byte("1"),
		Run: durable.Run{Occurrence: j.Occurrence, Attempt: j.Attempt, Started: j.Due,
			Finished: j.Due.Add(time.Second)},
	}
}

// next returns the end of a run that another occurrence follows.
func next(j durable.Job, due time.Time) durable.Outcome {
	o := outcome(j)
	o.State, o.Due, o.Occurrence = durable.Waiting, due, due
	return o
}

func (b *bench) settle(node string, o ...durable.Outcome) []bool {
	b.Helper()
	s, err := b.store.Commit(b.Context(), store.CommitRequest{Node: node, Outcomes: o, History: 5})
	b.ok(err)
	if len(s.Committed) != len(o) {
		b.Fatalf("Settle of %d outcomes gave %d answers", len(o), len(s.Committed))
	}
	return s.Committed
}

func (b *bench) confirm(node string, j durable.Job) bool {
	b.Helper()
	return b.confirmFor(node, j, time.Time{})
}

// confirmFor confirms a run for that occurrence.
func (b *bench) confirmFor(node string, j durable.Job, occurrence time.Time) bool {
	b.Helper()
	c := store.Confirm{Ref: store.Ref{ID: j.ID, Epoch: j.Epoch}, Occurrence: occurrence}
	s, err := b.store.Commit(b.Context(), store.CommitRequest{Node: node, Confirms: []store.Confirm{c}})
	b.ok(err)
	if len(s.Confirmed) != 1 {
		b.Fatalf("Settle of one confirm gave %d answers", len(s.Confirmed))
	}
	return s.Confirmed[0]
}

func (b *bench) change(id durable.ID, op durable.Op, want durable.Answer) {
	b.Helper()
	b.changeBy(id, durable.Change{Op: op}, want)
}

func (b *bench) changeBy(id durable.ID, c durable.Change, want durable.Answer) {
	b.Helper()
	got, err := b.store.Change(b.Context(), id, c)
	b.ok(err)
	if got != want {
		b.Fatalf("change %d was answered %q, want %q", c.Op, got, want)
	}
}

func (b *bench) get(id durable.ID) durable.Job {
	b.Helper()
	j, err := b.store.Get(b.Context(), id)
	b.ok(err)
	return j
}

func (b *bench) state(id durable.ID, want durable.State) durable.Job {
	b.Helper()
	j := b.get(id)
	if j.State != want {
		b.Fatalf("job is %v, want %v", j.State, want)
	}
	return j
}
