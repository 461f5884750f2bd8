package store

import "context"

// A Packer is a Store whose jobs can be taken to another store, one with the same interface, while nodes use both; see
// package shards. At each moment a job is in one place, whatever fails: in the store that it comes from, in a parcel
// there, or in the store that it goes to.
type Packer interface {
	// Pack takes jobs from the store, with their steps, signals and history, and puts a parcel in their place: a job of
	// the kind ParcelKind that is paused. A job that a node holds, that has parents or children, or that is a parcel
	// stays, and so may those at the end of the list if a parcel gets large. Pack returns how many jobs it has taken. If
	// that is 0 there is no parcel.
	Pack(ctx context.Context, r PackRequest) (int, error)

	// Unpack adds the jobs of a parcel of another store, and a job of ParcelKind without a payload that has its ID. If
	// that is there, it does nothing: so it can be repeated until the parcel has been deleted, and that job after it.
	// If a job of the parcel is in the store, or a job that has the key of one, the error matches ErrThere, and nothing
	// is added.
	Unpack(ctx context.Context, parcel Job) error
}

// ParcelKind is the kind of a parcel.
const ParcelKind = "durable/parcel"

// A PackRequest says what is to be taken from a store.
type PackRequest struct {
	Parcel ID   // of the parcel
	Jobs   []ID // to be taken, in this order
	Resume []ID // those of Jobs that wait in the other store, if they are paused in this one
}
