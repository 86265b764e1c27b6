// The gather study: three ways to write a message that lies in pieces, timed call by call.
//
//   separate   SSL_write for each piece
//   copied     memcpy into one buffer, then one SSL_write
//   writev     cleat_ssl_writev
//
// All three write to the same SSL, whose BIO counts the bytes and drops them, so the figures are
// library and copying only: no system call. The ways take turns in blocks of 20 messages, in all
// six orders one after the other, so that noise, frequency and what the way before left in the
// caches hit all alike.
//
// A block is timed, and the figures are its time divided by its messages. One message alone cannot
// be timed well enough: clocks of virtual machines and of recent AMD cores move in steps of
// 10 ns, which is 5% of a small message, and a reading costs tens of nanoseconds, which makes small
// messages look more alike than they are. Over a block both are below 1%; the median cost of
// reading the clock is measured in the same loop and subtracted. The price: p99.9 is of blocks, not
// of messages. `--block 1` times every message.

#include <cleat/ssl_writev.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

template <auto Free>
struct freed_by
{
    template <class T>
    void operator()(T* p) const
    {
        Free(p);
    }
};
using ssl_ptr = std::unique_ptr<SSL, freed_by<SSL_free>>;
using ctx_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;

void require(bool good, char const* what)
{
    if (!good)
        throw std::runtime_error{what};
}

// sink counts what a TLS library writes to it; for the handshake it also keeps it.
struct sink
{
    std::string bytes;
    std::string* peer = nullptr; // where reads come from
    bool keeps = true;
    std::uint64_t size = 0;
};

int sink_write(BIO* bio, char const* data, int size)
{
    sink& s = *static_cast<sink*>(BIO_get_data(bio));
    s.size += static_cast<std::uint64_t>(size);
    if (s.keeps)
        s.bytes.append(data, static_cast<std::size_t>(size));
    return size;
}

int sink_read(BIO* bio, char* data, int size)
{
    std::string& from = *static_cast<sink*>(BIO_get_data(bio))->peer;
    BIO_clear_retry_flags(bio);
    std::size_t const taken = std::min(static_cast<std::size_t>(size), from.size());
    if (taken == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    std::memcpy(data, from.data(), taken);
    from.erase(0, taken);
    return static_cast<int>(taken);
}

long sink_control(BIO*, int command, long, void*)
{
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

void attach(SSL* ssl, sink& s)
{
    static BIO_METHOD* const method = [] {
        BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "counting sink");
        BIO_meth_set_write(m, sink_write);
        BIO_meth_set_read(m, sink_read);
        BIO_meth_set_ctrl(m, sink_control);
        return m;
    }();
    BIO* bio = BIO_new(method);
    require(bio != nullptr, "no BIO");
    BIO_set_data(bio, &s);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
}

void use_new_rsa_certificate(SSL_CTX* ctx)
{
    std::unique_ptr<EVP_PKEY_CTX, freed_by<EVP_PKEY_CTX_free>> generator{
        EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nullptr)};
    EVP_PKEY* raw = nullptr;
    require(
        EVP_PKEY_keygen_init(generator.get()) == 1 &&
            EVP_PKEY_CTX_set_rsa_keygen_bits(generator.get(), 2048) == 1 &&
            EVP_PKEY_keygen(generator.get(), &raw) == 1,
        "no RSA key");
    std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>> key{raw};
    std::unique_ptr<X509, freed_by<X509_free>> certificate{X509_new()};
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    require(
        X509_sign(certificate.get(), key.get(), EVP_sha256()) != 0 &&
            SSL_CTX_use_certificate(ctx, certificate.get()) == 1 &&
            SSL_CTX_use_PrivateKey(ctx, key.get()) == 1,
        "no certificate");
}

// writer is the client of a finished handshake: TLS 1.2, ECDHE-RSA-AES256-GCM-SHA384.
struct writer
{
    sink out;
    sink server_out;
    ctx_ptr client_context{SSL_CTX_new(TLS_client_method())};
    ctx_ptr server_context{SSL_CTX_new(TLS_server_method())};
    ssl_ptr server;
    ssl_ptr ssl;

    writer()
    {
        use_new_rsa_certificate(server_context.get());
        for (SSL_CTX* ctx : {client_context.get(), server_context.get()}) {
            SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
            SSL_CTX_set_cipher_list(ctx, "ECDHE-RSA-AES256-GCM-SHA384");
        }
        ssl.reset(SSL_new(client_context.get()));
        server.reset(SSL_new(server_context.get()));
        out.peer = &server_out.bytes;
        server_out.peer = &out.bytes;
        attach(ssl.get(), out);
        attach(server.get(), server_out);
        SSL_set_connect_state(ssl.get());
        SSL_set_accept_state(server.get());
        for (int turn = 0; turn < 5 && SSL_do_handshake(ssl.get()) != 1; ++turn)
            SSL_do_handshake(server.get());
        require(SSL_is_init_finished(ssl.get()) == 1, "no handshake");
        out.keeps = false;
    }
};

struct message
{
    std::string name;
    std::vector<std::size_t> sizes;
    std::vector<std::vector<char>> pieces{};
    std::vector<iovec> vectors{};
    std::vector<char> copy{}; // where the copied way copies to
    std::size_t total = 0;
    std::size_t written = 0; // what writev reports

    void fill()
    {
        for (std::size_t const size : sizes) {
            pieces.emplace_back(size, 'x');
            vectors.push_back({pieces.back().data(), size});
            total += size;
        }
        copy.assign(total, 'y');
    }
};

void write_separate(SSL* ssl, message& m)
{
    for (iovec const& v : m.vectors)
        require(SSL_write(ssl, v.iov_base, static_cast<int>(v.iov_len)) > 0, "SSL_write failed");
}

void write_copied(SSL* ssl, message& m)
{
    char* to = m.copy.data();
    for (iovec const& v : m.vectors) {
        std::memcpy(to, v.iov_base, v.iov_len);
        to += v.iov_len;
    }
    require(SSL_write(ssl, m.copy.data(), static_cast<int>(m.total)) > 0, "SSL_write failed");
}

void write_gathered(SSL* ssl, message& m)
{
    int const count = static_cast<int>(m.vectors.size());
    require(cleat_ssl_writev(ssl, m.vectors.data(), count, &m.written) == 1, "writev failed");
}

struct way
{
    char const* name;
    void (*write)(SSL*, message&);
};
constexpr std::array<way, 3> ways{
    {{"separate", write_separate}, {"copied", write_copied}, {"writev", write_gathered}}};
constexpr std::size_t orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                      {2, 1, 0}, {0, 2, 1}, {1, 0, 2}};

std::int64_t now_ns()
{
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
}

using samples = std::vector<double>;

// quantile of samples that are sorted.
double quantile(samples const& sorted, double q)
{
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

struct result
{
    std::array<double, 5> ns{}; // min p50 p90 p99 p99.9
    std::uint64_t wire_size = 0;
};

struct study
{
    std::array<result, ways.size()> by_way{};
    double clock_ns = 0;
};

struct options
{
    std::size_t iterations = 200'000;
    std::size_t left_out = 10'000;
    std::size_t block = 20;
    std::string json_file;
    std::string only;
    bool large = false;
};

study run(writer& w, message& m, options const& o)
{
    SSL* const ssl = w.ssl.get();
    study s;
    std::array<samples, ways.size()> times;
    samples clock;
    for (std::size_t i = 0; i < ways.size(); ++i) {
        std::uint64_t const before = w.out.size;
        ways[i].write(ssl, m);
        s.by_way[i].wire_size = w.out.size - before;
    }
    for (std::size_t done = 0; done < o.iterations; done += o.block) {
        for (std::size_t const i : orders[done / o.block % std::size(orders)]) {
            std::int64_t const start = now_ns();
            for (std::size_t n = 0; n < o.block; ++n)
                ways[i].write(ssl, m);
            std::int64_t const end = now_ns();
            if (done >= o.left_out)
                times[i].push_back(static_cast<double>(end - start));
        }
        std::int64_t const start = now_ns();
        clock.push_back(static_cast<double>(now_ns() - start));
    }
    std::sort(clock.begin(), clock.end());
    s.clock_ns = quantile(clock, 0.5);
    constexpr double quantiles[] = {0, 0.5, 0.9, 0.99, 0.999};
    for (std::size_t i = 0; i < ways.size(); ++i) {
        std::sort(times[i].begin(), times[i].end());
        for (std::size_t q = 0; q < std::size(quantiles); ++q)
            s.by_way[i].ns[q] =
                (quantile(times[i], quantiles[q]) - s.clock_ns) / static_cast<double>(o.block);
    }
    return s;
}

// Where not copying could matter: an answer's 64 KiB, as programs have it lying about.
std::vector<message> large_messages()
{
    std::vector<message> all = {
        {"[9,1024]x64", {}},
        {"[1024]x64", {}},
        {"[2048]x32", {}},
        {"[4096]x16", {}},
        {"[8192]x8", {}},
        {"[16384]x4", {}},
        {"[300,65536]", {300, 65536}},
    };
    for (int i = 0; i < 64; ++i)
        all[0].sizes.insert(all[0].sizes.end(), {9, 1024}); // HTTP/2 DATA frames, small ones
    for (std::size_t i = 1; i <= 5; ++i)
        all[i].sizes.assign(64U >> (i - 1), std::size_t{1024} << (i - 1));
    return all;
}

std::vector<message> messages(bool large)
{
    if (large)
        return large_messages();
    std::vector<message> all = {
        {"[50]", {50}},
        {"[300]", {300}},
        {"[5000]", {5000}},
        {"[100,50]", {100, 50}},
        {"[50,300]", {50, 300}},
        {"[2000,1000]", {2000, 1000}},
        {"[100,50,100]", {100, 50, 100}},
        {"[50,300,100]", {50, 300, 100}},
        {"[1000,3000,2000]", {1000, 3000, 2000}},
        {"[50]x20", std::vector<std::size_t>(20, 50)},
        {"[9,16384]x4", {9, 16384, 9, 16384, 9, 16384, 9, 16384}}, // HTTP/2 DATA frames
        {"[16384,65536]", {16384, 65536}},
    };
    return all;
}

// verdict is writev's ratio to the other ways, and whether it is as promised.
struct verdict
{
    double to_best;     // p50 over the p50 of the faster other way
    double to_separate; // p50 of separate writes over that of writev
    bool holds;
};

verdict judge(message const& m, study const& s)
{
    auto const& [separate, copied, gathered] = s.by_way;
    verdict v{};
    v.to_best = gathered.ns[1] / std::min(separate.ns[1], copied.ns[1]);
    v.to_separate = separate.ns[1] / gathered.ns[1];
    // 29 bytes for each record (header 5, explicit nonce 8, tag 16), and the fewest records.
    std::uint64_t const fewest = m.total + 29 * ((m.total + 16383) / 16384);
    v.holds = v.to_best <= 1.02 && gathered.wire_size == fewest &&
              (m.name != "[50]x20" || v.to_separate >= 12);
    return v;
}

void print_table_head(std::string const& library, options const& o)
{
    fmt::print(
        "{}, TLS 1.2 ECDHE-RSA-AES256-GCM-SHA384, {} iterations, first {} left out\n"
        "ns per message, in blocks of {}\n\n"
        "{:<17} {:<9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8}  {}\n",
        library, o.iterations, o.left_out, o.block, "message", "way", "min", "p50", "p90", "p99",
        "p99.9", "bytes", "p50 of writev");
}

void print(message const& m, study const& s, verdict const& v)
{
    for (std::size_t w = 0; w < ways.size(); ++w) {
        auto const& r = s.by_way[w];
        fmt::print(
            "{:<17} {:<9} {:>7.1f} {:>7.1f} {:>7.1f} {:>7.1f} {:>7.1f} {:>8}", w == 0 ? m.name : "",
            ways[w].name, r.ns[0], r.ns[1], r.ns[2], r.ns[3], r.ns[4], r.wire_size);
        if (w + 1 == ways.size())
            fmt::print(
                "  {:.3f} of the best other, {:.1f} x separate{}", v.to_best, v.to_separate,
                v.holds ? "" : "  DOES NOT HOLD");
        fmt::print("\n");
    }
    std::fflush(stdout);
}

std::string json_of(message const& m, study const& s, verdict const& v)
{
    std::string text = fmt::format(
        "    {{\"message\": \"{}\", \"clock_ns\": {:.1f}, \"writev_to_best\": {:.4f}, "
        "\"separate_to_writev\": {:.4f}, \"holds\": {}",
        m.name, s.clock_ns, v.to_best, v.to_separate, v.holds);
    for (std::size_t w = 0; w < ways.size(); ++w) {
        auto const& r = s.by_way[w];
        text += fmt::format(
            ",\n     \"{}\": {{\"min\": {:.1f}, \"p50\": {:.1f}, \"p90\": {:.1f}, \"p99\": {:.1f}, "
            "\"p99.9\": {:.1f}, \"wire_bytes\": {}}}",
            ways[w].name, r.ns[0], r.ns[1], r.ns[2], r.ns[3], r.ns[4], r.wire_size);
    }
    return text + "}";
}

int measure(options const& o)
{
    writer w;
    std::string const library = OpenSSL_version(OPENSSL_VERSION);
    print_table_head(library, o);
    std::string json;
    bool holds = true;
    for (message& m : messages(o.large)) {
        if (!o.only.empty() && o.only != m.name)
            continue;
        m.fill();
        study const s = run(w, m, o);
        verdict const v = judge(m, s);
        holds = holds && v.holds;
        print(m, s, v);
        json += (json.empty() ? "" : ",\n") + json_of(m, s, v);
    }
    if (!o.json_file.empty()) {
        std::unique_ptr<std::FILE, freed_by<std::fclose>> file{
            std::fopen(o.json_file.c_str(), "w")};
        require(file != nullptr, "cannot write the JSON file");
        fmt::print(
            file.get(),
            "{{\"library\": \"{}\", \"suite\": \"ECDHE-RSA-AES256-GCM-SHA384\", \"iterations\": "
            "{}, "
            "\"left_out\": {}, \"block\": {},\n  \"cases\": [\n{}\n  ]}}\n",
            library, o.iterations, o.left_out, o.block, json);
    }
    return holds ? 0 : 2;
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app{"The gather study: SSL_write for each buffer, memcpy and one SSL_write, writev"};
    options o;
    app.add_option("--iterations", o.iterations, "messages for each way and case");
    app.add_option("--left-out", o.left_out, "messages at the start that are not counted");
    app.add_option("--block", o.block, "messages that are timed together");
    app.add_option("--json", o.json_file, "write the figures to this file, too");
    app.add_option("--only", o.only, "run this case only, for example '[50]x20'");
    app.add_flag("--large", o.large, "messages of 64 KiB instead of the 12 cases");
    CLI11_PARSE(app, argc, argv);
    try {
        require(o.block != 0, "--block must be at least 1");
        require(o.iterations > o.left_out, "--iterations must be more than --left-out");
        return measure(o);
    } catch (std::exception const& e) {
        fmt::print(stderr, "ssl_writev_bench: {}\n", e.what());
        return 1;
    }
}
