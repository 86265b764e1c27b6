// A TLS client on Go's crypto/tls for the program tests. It trusts everyone, since the tests check
// certificates elsewhere, and prints what it saw as one object of JSON.
//
//	go_client handshake   one connection: says "ping", wants it echoed
//	go_client resume      connections one after the other, with one session cache
//	go_client bulk        sends and receives at once, both checked by SHA-256
//	go_client many        connections at once: random pieces, half-closed, echoed to the end
package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"hash"
	"io"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	address  string
	name     string
	versions string
	groups   string
	alpn     string
	suites   string
	size     int64
	count    int
	deadline time.Duration
)

// agreed is what a handshake ended in.
type agreed struct {
	Version     string `json:"version"`
	Cipher      string `json:"cipher"`
	ALPN        string `json:"alpn"`
	Resumed     bool   `json:"resumed"`
	Fingerprint string `json:"fingerprint"`
}

func settings() *tls.Config {
	made := &tls.Config{ServerName: name, InsecureSkipVerify: true}
	switch versions {
	case "1.2":
		made.MinVersion, made.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	case "1.3":
		made.MinVersion, made.MaxVersion = tls.VersionTLS13, tls.VersionTLS13
	}
	for _, number := range numbers(groups) {
		made.CurvePreferences = append(made.CurvePreferences, tls.CurveID(number))
	}
	made.CipherSuites = numbers(suites)
	if alpn != "" {
		made.NextProtos = strings.Split(alpn, ",")
	}
	return made
}

// numbers reads a list of numbers of the registries: "4588,29".
func numbers(list string) []uint16 {
	var all []uint16
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		number, err := strconv.ParseUint(text, 0, 16)
		must(err)
		all = append(all, uint16(number))
	}
	return all
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func dial(with *tls.Config) (*tls.Conn, error) {
	connection, err := tls.Dial("tcp", address, with)
	if err != nil {
		return nil, err
	}
	return connection, connection.SetDeadline(time.Now().Add(deadline))
}

func describe(connection *tls.Conn) agreed {
	state := connection.ConnectionState()
	version := map[uint16]string{tls.VersionTLS12: "TLSv1.2", tls.VersionTLS13: "TLSv1.3"}
	made := agreed{
		Version: version[state.Version],
		Cipher:  tls.CipherSuiteName(state.CipherSuite),
		ALPN:    state.NegotiatedProtocol,
		Resumed: state.DidResume,
	}
	if len(state.PeerCertificates) > 0 {
		sum := sha256.Sum256(state.PeerCertificates[0].Raw)
		made.Fingerprint = hex.EncodeToString(sum[:])
	}
	return made
}

// ping makes one connection that says something, hears it again, and closes like a good peer.
func ping(with *tls.Config) (agreed, error) {
	connection, err := dial(with)
	if err != nil {
		return agreed{}, err
	}
	defer connection.Close()
	if _, err := connection.Write([]byte("ping")); err != nil {
		return agreed{}, err
	}
	answer := make([]byte, 4)
	if _, err := io.ReadFull(connection, answer); err != nil {
		return agreed{}, err
	}
	if string(answer) != "ping" {
		return agreed{}, fmt.Errorf("the echo of ping is %q", answer)
	}
	if err := connection.CloseWrite(); err != nil {
		return agreed{}, err
	}
	_, err = io.Copy(io.Discard, connection)
	return describe(connection), err
}

func handshake() any {
	made, err := ping(settings())
	must(err)
	return made
}

func resume() any {
	with := settings()
	with.ClientSessionCache = tls.NewLRUClientSessionCache(8)
	all := []agreed{}
	for i := 0; i < count; i++ {
		made, err := ping(with)
		must(err)
		all = append(all, made)
	}
	return map[string]any{"connections": all}
}

// bulk sends size bytes to an upstream that echoes, and reads them back at the same time.
func bulk() any {
	connection, err := dial(settings())
	must(err)
	defer connection.Close()
	sent, received := sha256.New(), sha256.New()
	done := make(chan int64)
	go func() {
		n, err := io.Copy(received, connection)
		must(err)
		done <- n
	}()
	_, err = io.Copy(io.MultiWriter(connection, sent), io.LimitReader(newNoise(1), size))
	must(err)
	must(connection.CloseWrite())
	n := <-done
	return map[string]any{"received": n, "up": hexOf(sent), "down": hexOf(received)}
}

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

func newNoise(seed int64) io.Reader { return rand.New(rand.NewSource(seed)) }

// many runs count connections at once. Each sends up to size bytes in pieces of random length, ends
// its side, and must read every byte of the echo and then a clean end.
func many() any {
	var all sync.WaitGroup
	errors := make(chan error, count)
	for i := 0; i < count; i++ {
		all.Add(1)
		go func(seed int64) {
			defer all.Done()
			if err := one(seed); err != nil {
				errors <- fmt.Errorf("connection %d: %w", seed, err)
			}
		}(int64(i))
	}
	all.Wait()
	close(errors)
	texts := []string{}
	for err := range errors {
		texts = append(texts, err.Error())
	}
	return map[string]any{"errors": texts}
}

func one(seed int64) error {
	random := rand.New(rand.NewSource(seed))
	connection, err := dial(settings())
	if err != nil {
		return err
	}
	defer connection.Close()
	data := make([]byte, 1+random.Int63n(size))
	random.Read(data)
	done := make(chan error, 1)
	go func() {
		got, err := io.ReadAll(connection)
		if err == nil && !bytes.Equal(got, data) {
			err = fmt.Errorf("%d bytes came back otherwise than %d were sent", len(got), len(data))
		}
		done <- err
	}()
	for at := 0; at < len(data); {
		end := at + 1 + random.Intn(40000)
		if end > len(data) {
			end = len(data)
		}
		if _, err := connection.Write(data[at:end]); err != nil {
			return err
		}
		at = end
	}
	if err := connection.CloseWrite(); err != nil {
		return err
	}
	return <-done
}

func main() {
	modes := map[string]func() any{
		"handshake": handshake, "resume": resume, "bulk": bulk, "many": many,
	}
	if len(os.Args) < 2 || modes[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: go_client handshake|resume|bulk|many [FLAGS]")
		os.Exit(2)
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	flags.StringVar(&address, "address", "", "HOST:PORT to connect to")
	flags.StringVar(&name, "name", "localhost", "server name")
	flags.StringVar(&versions, "version", "", "1.2 or 1.3; both when empty")
	flags.StringVar(&groups, "groups", "", "numbers of the groups to offer")
	flags.StringVar(&suites, "suites", "", "numbers of the TLS 1.2 cipher suites to offer")
	flags.StringVar(&alpn, "alpn", "", "protocols to offer")
	flags.Int64Var(&size, "size", 1<<20, "bytes")
	flags.IntVar(&count, "count", 2, "connections")
	flags.DurationVar(&deadline, "deadline", 60*time.Second, "for each connection")
	must(flags.Parse(os.Args[2:]))
	must(json.NewEncoder(os.Stdout).Encode(modes[os.Args[1]]()))
}
