// Command exec-server is the part of a kubelet that an API server connects to: it runs commands in pods. The protocol is Kubernetes' own
// (k8s.io/kubelet); the pods are directories, and their commands processes of this machine, as test/fake/kubernetes/pod-processes.ts
// has them. It is no container runtime.
//
//	exec-server -pods DIR -cert FILE -key FILE -client-ca FILE
//
// It serves on a free port of 127.0.0.1, prints the port, and ends with its standard input.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"k8s.io/apimachinery/pkg/types"
	constants "k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/tools/remotecommand"
	streaming "k8s.io/kubelet/pkg/cri/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// As the kubelet has it.
const idleTimeout = 4 * time.Hour

func main() {
	pods := flag.String("pods", "", "directory of the pods")
	cert := flag.String("cert", "", "certificate to show, PEM")
	key := flag.String("key", "", "its key, PEM")
	clientCA := flag.String("client-ca", "", "authority of the API server's certificate, PEM")
	flag.Parse()
	listener, err := listen(*cert, *key, *clientCA)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	mux := http.NewServeMux()
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", runtime{*pods}.serve)
	log.Fatal(http.Serve(listener, mux))
}

func listen(cert, key, clientCA string) (net.Listener, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(clientCA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, errors.New("no certificate in " + clientCA)
	}
	return tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{pair},
		ClientCAs:    pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
	})
}

type runtime struct{ pods string }

func (r runtime) serve(response http.ResponseWriter, request *http.Request) {
	options, err := streaming.NewOptions(request)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	pod := request.PathValue("pod")
	if _, err := r.environment(pod); err != nil {
		http.Error(response, "pod does not exist", http.StatusNotFound)
		return
	}
	streaming.ServeExec(response, request, r, pod, "", request.PathValue("container"), request.URL.Query()["command"],
		options, idleTimeout, constants.DefaultStreamCreationTimeout, constants.SupportedStreamingProtocols)
}

func (r runtime) environment(pod string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(r.pods, pod+".env"))
	return strings.Split(strings.TrimSpace(string(text)), "\n"), err
}

// ExecInContainer runs a command to its end. Like a container runtime it does not end one whose connection is gone, but for its input.
func (r runtime) ExecInContainer(_ context.Context, pod string, _ types.UID, _ string, words []string, in io.Reader,
	out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	environment, err := r.environment(pod)
	if err != nil {
		return err
	}
	command := exec.Command(words[0], words[1:]...)
	command.Dir = filepath.Join(r.pods, pod)
	command.Env = environment
	if tty {
		return onTerminal(command, in, out, resize)
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Stdout, command.Stderr = out, errs
	if in != nil {
		// Not as its Stdin: Wait would wait for the end of the input.
		input, err := command.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(input, in)
			_ = input.Close()
		}()
	}
	return statusOf(command.Run())
}

func onTerminal(command *exec.Cmd, in io.Reader, out io.Writer, resize <-chan remotecommand.TerminalSize) error {
	terminal, err := pty.Start(command)
	if err != nil {
		return err
	}
	defer terminal.Close()
	go func() {
		for size := range resize {
			_ = pty.Setsize(terminal, &pty.Winsize{Rows: size.Height, Cols: size.Width})
		}
	}()
	if in != nil {
		go func() { _, _ = io.Copy(terminal, in) }()
	}
	// It ends with EIO when the other side is closed.
	_, _ = io.Copy(out, terminal)
	return statusOf(command.Wait())
}

// As container runtimes count.
func statusOf(err error) error {
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return err
	}
	status := ended.Sys().(syscall.WaitStatus)
	code := status.ExitStatus()
	if status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return utilexec.CodeExitError{Err: fmt.Errorf("exit code %d", code), Code: code}
}
