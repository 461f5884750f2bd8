package main

import "testing"

// Each word that people try stands for a command that there is, and is none itself.
func TestOtherWordsAreForCommands(t *testing.T) {
	known := make(map[string]bool)
	for _, cmd := range newRoot().Commands() {
		known[cmd.Name()] = true
	}
	for name, words := range otherWords {
		if !known[name] {
			t.Errorf("there is no command %s", name)
		}
		for _, word := range words {
			if known[word] || daemonWords[word] != "" {
				t.Errorf("%s, for %s, is a command, or has another answer", word, name)
			}
		}
	}
	for word := range daemonWords {
		if known[word] {
			t.Errorf("%s is a command", word)
		}
	}
}
