package debug_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/executor-go/executor"
	"github.com/executor-go/executor/ui/debug"
)

// A program shows its pools, and reads the same as JSON.
func Example() {
	observer := &executor.Observer{Every: 1, MaxNames: 20, MaxEvents: 200}
	pool, err := executor.New(executor.Config{Name: "mail", Workers: 4, Observer: observer})
	if err != nil {
		panic(err)
	}
	defer pool.Close()
	sent := executor.Submit(context.Background(), pool, func(context.Context) (string, error) { return "sent", nil })
	fmt.Println(sent.Get(context.Background()))

	mux := http.NewServeMux()
	mux.Handle("/debug/executors/", debug.Handler(observer))

	server := httptest.NewServer(mux) // in a program: http.ListenAndServe("localhost:8080", mux)
	defer server.Close()
	response, err := server.Client().Get(server.URL + "/debug/executors/json")
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	var report debug.Report
	if err := json.NewDecoder(response.Body).Decode(&report); err != nil {
		panic(err)
	}
	for _, p := range report.Pools {
		fmt.Println(p.Name, p.Succeeded)
	}
	// Output:
	// sent <nil>
	// mail 1
}
