package howto

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"

	"github.com/executor-go/executor/durable"
)

// sealed is the first byte of what is encrypted. JSON never begins with it.
const sealed = 1

// encryption is a codec that keeps payloads and results from those who can read the database.
type encryption struct{ aead cipher.AEAD }

func newEncryption(key []byte) (durable.Codec, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return encryption{aead}, err
}

// Encode encrypts plain for jobs of a kind. Decode fails for another kind, so nobody can move a payload to one.
func (e encryption) Encode(kind string, plain []byte) ([]byte, error) {
	return e.aead.Seal([]byte{sealed}, nil, plain, []byte(kind)), nil
}

// Decode decrypts. It returns what was stored before there was a key unchanged.
func (e encryption) Decode(kind string, stored []byte) ([]byte, error) {
	switch {
	case len(stored) == 0:
		return nil, errors.New("there is nothing to decrypt")
	case stored[0] != sealed:
		return stored, nil
	}
	return e.aead.Open(nil, nil, stored[1:], []byte(kind))
}

// openJobs returns jobs whose payloads and results are encrypted in the store.
func openJobs(store durable.Store, key []byte) (*durable.Jobs, error) {
	codec, err := newEncryption(key)
	if err != nil {
		return nil, err
	}
	return durable.New(durable.Config{Store: store, Codec: codec})
}
