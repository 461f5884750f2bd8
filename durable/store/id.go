package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// An ID names a job. It is a UUID of version 7, so that later jobs have, as a rule, greater IDs. The program makes the
// ID, not the database, so that an insert whose answer was lost can be repeated.
type ID [16]byte

// NewID returns an ID that no other job has.
func NewID() ID {
	var id ID
	rand.Read(id[:])
	return id.at(time.Now())
}

// IDOf returns the ID that follows from a time and some bytes. It is as those of NewID made at that time, but always the
// same: so what is added with it is added once, whoever does it.
func IDOf(t time.Time, of []byte) ID {
	var id ID
	sum := sha256.Sum256(of)
	copy(id[6:], sum[:])
	return id.at(t)
}

// at gives an ID its time, and the marks of a UUID.
func (id ID) at(t time.Time) ID {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(t.UnixMilli()))
	copy(id[:6], ms[2:])
	id[6] = 0x70 | id[6]&0x0f
	id[8] = 0x80 | id[8]&0x3f
	return id
}

// ParseID returns the ID that String has written as s, or an error that matches executor.ErrInvalid.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, invalid("job id %q: it must look like 01890a5d-ac96-774b-bcce-b302099a8057", s)
	}
	digits := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if _, err := hex.Decode(id[:], []byte(digits)); err != nil {
		return ID{}, invalid("job id %q: %v", s, err)
	}
	return id, nil
}

// String returns the usual text of a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057.
func (id ID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// MarshalText returns the text of String.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText sets id to the ID that text has, as ParseID does.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseID(string(text))
	return err
}
