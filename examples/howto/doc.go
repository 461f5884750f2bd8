// Package howto has the code that the pages of docs/how-to show. It is there to be compiled, tested and copied.
package howto
