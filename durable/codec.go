package durable

import (
	"encoding/json"
	"fmt"

	executor "github.com/executor-go/executor"
)

// A Codec converts JSON to the bytes that are stored, and back: to compress or encrypt payloads, or to read old ones.
// It applies to the payloads of jobs and signals, and to the results of jobs and steps. Its methods get the kind of the
// job, may be called by several goroutines at once, and must not keep or change their arguments.
//
// Decode also gets what was stored without the Codec, or by an older version of it. So let the output of Encode begin
// with a byte that distinguishes it; JSON never begins with a byte below 0x09.
//
// A Codec does not convert keys, errors, labels, Meta, notes of Progress and what is written to Output. Job.Payload,
// Job.Result and KeptStep.Result are the bytes that are stored; Kind.Payload, Kind.Await and ParentResults decode them.
// If Encode returns different bytes for the same JSON each time, as encryption does, registering a schedule again
// counts as a change of its payload.
type Codec interface {
	// Encode returns the bytes to store for plain, which is JSON. It must return at least one byte; MaxPayload and
	// MaxResult limit how many. An error fails the call that adds the job or, for a result, the run, which is tried
	// again.
	Encode(kind string, plain []byte) (stored []byte, err error)
	// Decode returns the JSON for stored. An error fails the call or the run. A run is tried again, since another node
	// may have the key.
	Decode(kind string, stored []byte) (plain []byte, err error)
}

// marshal returns a value as JSON.
func marshal(what string, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, executor.Permanent(invalid("%s %T: %w", what, v, err))
	}
	return data, nil
}

// stored returns what is stored of JSON.
func (j *Jobs) stored(kind, what string, plain []byte, limit int) ([]byte, error) {
	data, as := plain, "as JSON"
	if j.cfg.Codec != nil {
		var err error
		if data, err = j.cfg.Codec.Encode(kind, plain); err != nil {
			return nil, fmt.Errorf("durable: %s of kind %q: the codec failed: %w", what, kind, err)
		}
		if len(data) == 0 {
			return nil, executor.Permanent(invalid("%s of kind %q: the codec returned no bytes; Encode must return at least one", what, kind))
		}
		as = "from the codec"
	}
	if len(data) > limit {
		return nil, executor.Permanent(invalid("%s: it has %d bytes %s; at most %d are allowed", what, len(data), as, limit))
	}
	return data, nil
}

// encode returns what is stored of a value.
func (j *Jobs) encode(kind, what string, v any, limit int) ([]byte, error) {
	plain, err := marshal(what, v)
	if err != nil {
		return nil, err
	}
	return j.stored(kind, what, plain, limit)
}

// decode reads into v what is stored.
func (j *Jobs) decode(kind, what string, stored []byte, v any) error {
	plain := stored
	if j.cfg.Codec != nil {
		var err error
		if plain, err = j.cfg.Codec.Decode(kind, stored); err != nil {
			return fmt.Errorf("durable: %s: the codec failed: %w", what, err)
		}
	}
	if err := json.Unmarshal(plain, v); err != nil {
		return fmt.Errorf("durable: %s: %w", what, err)
	}
	return nil
}
