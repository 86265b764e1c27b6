// Handshakes of NSS, on a layer of NSPR in memory.
//
// NSS has no contexts: a connection takes its settings from a model, and models share one key slot,
// one cache of the client's sessions and one of the server's in a process. So "a context for each
// thread" is a model for each thread here, and takes less apart than elsewhere.
#include "handshakes.hpp"
#include "memory_transport.hpp"
#include "nss_layer.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cert.h>
#include <keyhi.h>
#include <nss.h>
#include <nssb64.h>
#include <pk11pub.h>
#include <secmod.h>
#include <ssl.h>
#include <sslerr.h>
#include <sslexp.h>
#include <sslproto.h>

namespace {

using study::bytes;
using study::handshake_kind;
using study::role;
using study::task;
using study::unsupported;

[[noreturn]] void fail(std::string_view what)
{
    char const* const name = PR_ErrorToName(PR_GetError());
    throw std::runtime_error(fmt::format("{}: {}", what, name == nullptr ? "unknown" : name));
}

void must(SECStatus result, std::string_view what)
{
    if (result != SECSuccess)
        fail(what);
}

struct closed
{
    void operator()(PRFileDesc* fd) const noexcept { PR_Close(fd); }
};
using descriptor = std::unique_ptr<PRFileDesc, closed>;

// Newer than the header of many a packaged NSS: the numbers are TLS's own.
constexpr auto x25519mlkem768 = static_cast<SSLNamedGroup>(0x11ec);

std::uint16_t suite(task const& use)
{
    return use.tls13() ? TLS_AES_128_GCM_SHA256
           : use.rsa() ? TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
                       : TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256;
}

SSLNamedGroup group(task const& use)
{
    return use.post_quantum() ? x25519mlkem768 : ssl_grp_ec_curve25519;
}

// start sets NSS up, once in a process.
void start()
{
    static std::once_flag once;
    std::call_once(once, [] {
        must(NSS_NoDB_Init(nullptr), "NSS_NoDB_Init");
        must(NSS_SetDomesticPolicy(), "the policy");
        must(SSL_ConfigServerSessionIDCache(20 * 1024, 0, 0, nullptr), "the server's cache");
    });
}

// der gives what lies between two lines of a PEM file, decoded. The caller frees it.
SECItem* der(std::string const& pem, std::string_view what)
{
    std::string const begin = fmt::format("-----BEGIN {}-----", what);
    std::size_t const from = pem.find(begin);
    std::size_t const to = pem.find("-----END", from);
    if (from == std::string::npos || to == std::string::npos)
        throw std::runtime_error(fmt::format("the file has no {}", what));
    std::string const text = pem.substr(from + begin.size(), to - from - begin.size());
    SECItem* const found =
        NSSBase64_DecodeBuffer(nullptr, nullptr, text.data(), static_cast<PRUint32>(text.size()));
    if (found == nullptr)
        fail("base64");
    return found;
}

/// nss_contexts are a client's and a server's model.
class nss_contexts
{
public:
    explicit nss_contexts(task const& asked) : use(asked)
    {
        if (use.contexts == study::sharing::library)
            throw unsupported("the library has no library contexts");
        if (use.kind == handshake_kind::id && use.tls13())
            throw unsupported("in TLS 1.3 the server resumes from tickets only");
        start();
        client = pinned();
        server = pinned();
        must(
            SSL_AuthCertificateHook(
                client.get(), [](void*, PRFileDesc*, PRBool, PRBool) { return SECSuccess; },
                nullptr),
            "the hook");
        certify();
    }
    nss_contexts(nss_contexts const&) = delete;
    nss_contexts& operator=(nss_contexts const&) = delete;
    ~nss_contexts()
    {
        SECKEY_DestroyPrivateKey(key_);
        CERT_DestroyCertificate(certificate_);
    }

    task const& use;
    descriptor client;
    descriptor server;

private:
    descriptor pinned() const
    {
        descriptor model{SSL_ImportFD(nullptr, study::open_nss_layer(nullptr))};
        if (!model)
            fail("SSL_ImportFD");
        std::uint16_t const version =
            use.tls13() ? SSL_LIBRARY_VERSION_TLS_1_3 : SSL_LIBRARY_VERSION_TLS_1_2;
        SSLVersionRange const range{version, version};
        must(SSL_VersionRangeSet(model.get(), &range), "the version");
        for (int i = 0; i < SSL_NumImplementedCiphers; ++i)
            SSL_CipherPrefSet(model.get(), SSL_ImplementedCiphers[i], PR_FALSE);
        must(SSL_CipherPrefSet(model.get(), suite(use), PR_TRUE), "the suite");
        SSLSignatureScheme const scheme =
            use.rsa() ? ssl_sig_rsa_pss_rsae_sha256 : ssl_sig_ecdsa_secp256r1_sha256;
        must(SSL_SignatureSchemePrefSet(model.get(), &scheme, 1), "the signature scheme");
        // In TLS 1.2 the list is also that of the curves which a certificate may be on.
        std::array<SSLNamedGroup, 2> const groups{group(use), ssl_grp_ec_secp256r1};
        must(SSL_NamedGroupConfig(model.get(), groups.data(), use.tls13() ? 1 : 2), "the group");
        must(SSL_SendAdditionalKeyShares(model.get(), 0), "the key shares");
        must(
            SSL_OptionSet(
                model.get(), SSL_ENABLE_SESSION_TICKETS, use.kind == handshake_kind::ticket),
            "tickets");
        must(SSL_OptionSet(model.get(), SSL_NO_CACHE, !use.resumes()), "no cache");
        return model;
    }

    void certify()
    {
        std::ifstream file{use.certificate};
        std::string const pem{std::istreambuf_iterator<char>{file}, {}};
        SECItem* const cert_der = der(pem, "CERTIFICATE");
        certificate_ =
            CERT_NewTempCertificate(CERT_GetDefaultCertDB(), cert_der, nullptr, PR_FALSE, PR_TRUE);
        SECITEM_FreeItem(cert_der, PR_TRUE);
        if (certificate_ == nullptr)
            fail("the certificate");
        SECItem* const key_der = der(pem, "PRIVATE KEY");
        PK11SlotInfo* const slot = PK11_GetInternalSlot();
        SECStatus const imported = PK11_ImportDERPrivateKeyInfoAndReturnKey(
            slot, key_der, nullptr, nullptr, PR_FALSE, PR_FALSE, KU_ALL, &key_, nullptr);
        PK11_FreeSlot(slot);
        SECITEM_ZfreeItem(key_der, PR_TRUE);
        must(imported, "the key");
        must(
            SSL_ConfigServerCert(server.get(), certificate_, key_, nullptr, 0),
            "SSL_ConfigServerCert");
    }

    CERTCertificate* certificate_ = nullptr;
    SECKEYPrivateKey* key_ = nullptr;
};

/// nss_thread is the state of a thread: its transports, and the name that its sessions are kept
/// under.
struct nss_thread
{
    explicit nss_thread(nss_contexts& shared) : contexts(shared) {}

    nss_contexts& contexts;
    std::string name = fmt::format("thread-{}", next_name());
    study::memory_transport client;
    study::memory_transport server;

private:
    static int next_name()
    {
        static std::atomic<int> last = 0;
        return ++last;
    }
};

/// nss_side is one connection's client or server.
class nss_side
{
public:
    nss_side(nss_thread& thread, role as)
        : use_(thread.contexts.use), transport_(as == role::client ? thread.client : thread.server)
    {
        PRFileDesc* const model =
            (as == role::client ? thread.contexts.client : thread.contexts.server).get();
        transport_.clear();
        tls_.reset(SSL_ImportFD(model, study::open_nss_layer(&transport_)));
        if (!tls_)
            fail("SSL_ImportFD");
        must(SSL_ResetHandshake(tls_.get(), as == role::server), "SSL_ResetHandshake");
        if (as == role::client) {
            must(SSL_SetURL(tls_.get(), ""), "SSL_SetURL"); // no client here sends a name
            must(SSL_SetSockPeerID(tls_.get(), thread.name.c_str()), "SSL_SetSockPeerID");
        }
        must(
            SSL_HandshakeCallback(
                tls_.get(),
                [](PRFileDesc*, void* self) { static_cast<nss_side*>(self)->done_ = true; }, this),
            "SSL_HandshakeCallback");
    }
    nss_side(nss_side const&) = delete;
    nss_side& operator=(nss_side const&) = delete;
    ~nss_side() { transport_.clear(); } // before NSS's farewell, which nobody reads

    bool shake(bytes incoming)
    {
        transport_.receive(incoming);
        if (done_)
            return true;
        char none = 0;
        int const result = again_ ? PR_Recv(tls_.get(), &none, 1, 0, PR_INTERVAL_NO_TIMEOUT)
                                  : SSL_ForceHandshake(tls_.get());
        PRErrorCode const why = result < 0 ? PR_GetError() : PR_WOULD_BLOCK_ERROR;
        // It passes over groups that it does not know, and over those that its policy forbids.
        if (why == SSL_ERROR_NO_CIPHERS_SUPPORTED && use_.post_quantum())
            throw unsupported("the library does not have this group");
        if (why != PR_WOULD_BLOCK_ERROR)
            fail("the handshake");
        return done_;
    }

    bytes outgoing() const { return transport_.outgoing(); }

    void send()
    {
        if (PR_Send(tls_.get(), "!", 1, 0, PR_INTERVAL_NO_TIMEOUT) != 1)
            fail("PR_Send");
    }

    bool receive(bytes incoming)
    {
        transport_.receive(incoming);
        char byte = 0;
        return PR_Recv(tls_.get(), &byte, 1, 0, PR_INTERVAL_NO_TIMEOUT) == 1 && byte == '!';
    }

    void ask_again()
    {
        transport_.clear();
        must(SSL_ReHandshake(tls_.get(), PR_TRUE), "SSL_ReHandshake");
    }

    void expect_again()
    {
        again_ = true;
        done_ = false;
    }

    void check(bool resumed) const
    {
        SSLChannelInfo found{};
        must(SSL_GetChannelInfo(tls_.get(), &found, sizeof found), "SSL_GetChannelInfo");
        if (found.protocolVersion !=
            (use_.tls13() ? SSL_LIBRARY_VERSION_TLS_1_3 : SSL_LIBRARY_VERSION_TLS_1_2))
            throw std::runtime_error("another version of TLS was agreed on");
        if (found.cipherSuite != suite(use_))
            throw std::runtime_error("another suite was agreed on");
        if (found.keaGroup != group(use_) && !(resumed && !use_.tls13()))
            throw std::runtime_error("another group was agreed on");
        if ((found.resumed != PR_FALSE) != resumed)
            throw std::runtime_error(resumed ? "not resumed" : "resumed");
    }

private:
    task const& use_;
    study::memory_transport& transport_;
    descriptor tls_;
    bool again_ = false;
    bool done_ = false;
};

struct nss
{
    using contexts = nss_contexts;
    using thread_state = nss_thread;
    using side = nss_side;
    static std::string version() { return std::string{"NSS "} + NSS_GetVersion(); }
};

} // namespace

int main(int argc, char** argv)
{
    return study::run<nss>(argc, argv);
}
