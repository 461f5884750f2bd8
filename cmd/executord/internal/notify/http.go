package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// client sends all requests. They are rare, so no connection is kept. A redirect is not followed: it would send a token
// to another host, or make a POST a GET.
var client = &http.Client{
	Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// post sends a request, and returns the status and the begin of the answer's body.
func post(ctx context.Context, address, contentType, body string, headers map[string]string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return "", &Refusal{errors.New("the URL is wrong")} // err has it
	}
	request.Header.Set("User-Agent", "executord")
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		var withURL *url.Error
		if errors.As(err, &withURL) {
			err = withURL.Err
		}
		return "", err
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 300))
	answer := strings.TrimSpace(response.Status + " " + string(text))
	switch code := response.StatusCode; {
	case code/100 == 2:
		return answer, nil
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500:
		return "", &busy{errors.New(answer), retryAfter(response.Header.Get("Retry-After"))}
	case code/100 == 3:
		return "", &Refusal{fmt.Errorf("%s: it is a redirect, which is not followed; write the URL that it leads to", response.Status)}
	default:
		return "", &Refusal{errors.New(answer)}
	}
}

// retryAfter returns what a header asks for, 0 if it can't be read.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil && seconds > 0 {
		return min(time.Duration(seconds), 86400) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return time.Until(at)
	}
	return 0
}

// checkURL returns what is wrong with the URL of a channel. It does not show it.
func checkURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("the URL can't be read")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the URL begins with neither https:// nor http://")
	case u.Host == "":
		return errors.New("the URL has no host")
	}
	return nil
}

// secretsOf returns what of a URL is secret: all that may stand for a password, but not the host.
func secretsOf(address string) []string {
	secrets := []string{address}
	u, err := url.Parse(address)
	if err != nil {
		return secrets
	}
	if u.User != nil {
		password, _ := u.User.Password()
		secrets = append(secrets, u.User.String(), password)
	}
	secrets = append(secrets, u.RawQuery)
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		if len(part) >= 8 { // shorter ones are words of an interface
			secrets = append(secrets, part)
		}
	}
	for _, values := range u.Query() {
		for _, value := range values {
			if len(value) >= 8 {
				secrets = append(secrets, value)
			}
		}
	}
	return secrets
}
