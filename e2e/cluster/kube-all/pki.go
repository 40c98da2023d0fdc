package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"flag"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// How long certificates hold: a cluster of tests lives for hours at most, and clocks may differ by some minutes.
const (
	validBefore = time.Hour
	validFor    = 30 * 24 * time.Hour
)

// authority signs everything in one folder.
type authority struct {
	folder      string
	certificate *x509.Certificate
	key         crypto.Signer
	encoded     []byte
}

// identity is who a certificate is for.
type identity struct {
	file         string
	name         string
	organization string
	// Addresses and names of a server; a client has none.
	addresses []net.IP
	names     []string
}

// makeKeys writes the authority, the certificates of all components, the key of service accounts and the kubeconfigs.
func makeKeys(arguments []string) error {
	flags := flag.NewFlagSet("pki", flag.ContinueOnError)
	folder := flags.String("folder", "", "where to write; it is created")
	server := flags.String("server", "", "the API server as clients name it, ADDRESS:PORT")
	service := flags.String("service", "10.96.0.1", "the API server's address as a service")
	nodes := flags.String("nodes", "", "the nodes, as NAME=ADDRESS,NAME=ADDRESS")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(*server)
	if err != nil {
		return fmt.Errorf("--server: %w", err)
	}
	if err := os.MkdirAll(*folder, 0o700); err != nil {
		return err
	}
	ca, err := newAuthority(*folder)
	if err != nil {
		return err
	}
	servers := []identity{{
		file: "apiserver", name: "kube-apiserver",
		addresses: []net.IP{net.ParseIP("127.0.0.1"), net.ParseIP(host), net.ParseIP(*service)},
		names: []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local"},
	}}
	clients := []identity{
		{file: "admin", name: "admin", organization: "system:masters"},
		{file: "controller-manager", name: "system:kube-controller-manager"},
		{file: "scheduler", name: "system:kube-scheduler"},
	}
	for node := range strings.SplitSeq(*nodes, ",") {
		name, address, found := strings.Cut(node, "=")
		ip := net.ParseIP(address)
		if !found || ip == nil {
			return fmt.Errorf("--nodes: %q is not NAME=ADDRESS", node)
		}
		clients = append(clients, identity{file: name, name: "system:node:" + name, organization: "system:nodes"})
		// The API server asks the kubelet for logs, and wants to know that it is the kubelet.
		servers = append(servers,
			identity{file: "kubelet-" + name, name: name, addresses: []net.IP{ip}, names: []string{name}})
	}
	for _, server := range servers {
		if _, _, err := ca.issue(server, x509.ExtKeyUsageServerAuth); err != nil {
			return err
		}
	}
	for _, client := range clients {
		certificate, key, err := ca.issue(client, x509.ExtKeyUsageClientAuth)
		if err != nil {
			return err
		}
		if err := ca.write(client.file+".conf", ca.kubeconfig(*server, certificate, key)); err != nil {
			return err
		}
	}
	return ca.serviceAccounts()
}

func newAuthority(folder string) (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "plimsoll-e2e"},
		NotBefore:             time.Now().Add(-validBefore),
		NotAfter:              time.Now().Add(validFor),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	ca := &authority{folder: folder, key: key, encoded: block("CERTIFICATE", der)}
	if ca.certificate, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	return ca, ca.write("ca.crt", ca.encoded)
}

// issue writes NAME.crt and NAME.key, and gives both.
func (ca *authority) issue(who identity, usage x509.ExtKeyUsage) (certificate, key []byte, err error) {
	pair, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: who.name},
		NotBefore:    time.Now().Add(-validBefore),
		NotAfter:     time.Now().Add(validFor),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{usage},
		IPAddresses:  who.addresses,
		DNSNames:     who.names,
	}
	if who.organization != "" {
		template.Subject.Organization = []string{who.organization}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.certificate, pair.Public(), ca.key)
	if err != nil {
		return nil, nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		return nil, nil, err
	}
	certificate, key = block("CERTIFICATE", der), block("PRIVATE KEY", private)
	if err := ca.write(who.file+".crt", certificate); err != nil {
		return nil, nil, err
	}
	return certificate, key, ca.write(who.file+".key", key)
}

// serviceAccounts writes the pair of keys that tokens of service accounts are signed and checked with.
func (ca *authority) serviceAccounts() error {
	pair, err := newKey()
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(pair.Public())
	if err != nil {
		return err
	}
	if err := ca.write("service-accounts.key", block("PRIVATE KEY", private)); err != nil {
		return err
	}
	return ca.write("service-accounts.pub", block("PUBLIC KEY", public))
}

// kubeconfig holds the certificates themselves, so that it is one file that can be copied.
func (ca *authority) kubeconfig(server string, certificate, key []byte) []byte {
	encode := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: e2e, cluster: {server: "https://%s", certificate-authority-data: %s}}]
users: [{name: e2e, user: {client-certificate-data: %s, client-key-data: %s}}]
contexts: [{name: e2e, context: {cluster: e2e, user: e2e}}]
current-context: e2e
`, server, encode(ca.encoded), encode(certificate), encode(key))
}

func (ca *authority) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(ca.folder, name), content, 0o600)
}

func newKey() (crypto.Signer, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
