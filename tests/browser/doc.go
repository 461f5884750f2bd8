// Package browser has tests that look at pages in a real browser, headless Chromium: that
// they are accessible, fit a phone, have their charts, ask no other server, work without
// scripts, and live.
//
// They need chromium-headless-shell, npm and java. Where one is missing they are skipped, but fail
// if CI is set. npm fetches the checkers that testdata/package.json names, once, into a directory
// beside the build cache.
//
//	go test ./tests/browser            all
//	go test ./tests/browser -images    writes the pictures of docs/images as well
package browser
