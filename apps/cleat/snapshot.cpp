#include "snapshot.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include <fnmatch.h>

namespace cleat::app {
namespace {

namespace fs = std::filesystem;

class loader
{
public:
    explicit loader(loading& into) : into_{into}, settings_{into.made.settings} {}

    void run()
    {
        make_ticket_secret();
        load_shared_certificates();
        for (listener const& l : settings_.listeners)
            plan(l);
        find_upstream();
        set_listen_options();
    }

private:
    void problem_at(origin const& where, std::string key, std::string text, std::string cure)
    {
        tell({problem::severity::error, where, std::move(key), std::move(text), std::move(cure)});
    }

    void warning_at(origin const& where, std::string key, std::string text)
    {
        tell({problem::severity::warning, where, std::move(key), std::move(text), {}});
    }

    // What several listeners share is wrong once.
    void tell(problem found)
    {
        std::string const line = to_string(found);
        if (std::ranges::none_of(
                into_.problems, [&](problem const& p) { return to_string(p) == line; }))
            into_.problems.push_back(std::move(found));
    }

    // The text of a file, or nothing and a problem. What several listeners name is read once.
    std::optional<std::string> read_file(
        origin const& where, std::string const& key, std::string const& path)
    {
        auto const [found, is_new] = files_.try_emplace(path);
        if (is_new)
            found->second = read_new_file(where, key, path);
        return found->second;
    }

    std::optional<std::string> read_new_file(
        origin const& where, std::string const& key, std::string const& path)
    {
        std::error_code ec;
        if (fs::is_directory(path, ec)) {
            problem_at(
                where, key, fmt::format("{} is a directory", path),
                "Name a file, or use pem-dir for a directory of them.");
            return {};
        }
        std::ifstream file{path, std::ios::binary};
        if (!file) {
            problem_at(
                where, key, fmt::format("cannot read {}: {}", path, std::strerror(errno)),
                "Check the path and who may read it.");
            return {};
        }
        std::string text(limits::pem_file_max + 1, '\0');
        file.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(file.gcount()));
        if (text.size() > limits::pem_file_max) {
            problem_at(
                where, key, fmt::format("{} is larger than 1 MiB", path),
                "A PEM file of a certificate, its chain and its key is far smaller.");
            return {};
        }
        return text;
    }

    void load_shared_certificates()
    {
        if (!settings_.pem_dir->empty())
            load_pem_dir();
        for (pem_file const& pem : settings_.pem_files)
            load_pem(pem, shared_);
    }

    void load_pem(pem_file const& pem, std::vector<tls::certificate_source>& into)
    {
        tls::certificate_source source;
        source.origin = *pem.cert;
        std::optional<std::string> chain = read_file(pem.from, "pem-file", *pem.cert);
        std::optional<std::string> key =
            pem.private_key->empty() ? chain : read_file(pem.from, "private-key", *pem.private_key);
        if (!chain || !key)
            return;
        source.chain = std::move(*chain);
        source.private_key = std::move(*key);
        if (!pem.private_key->empty())
            source.origin += " with " + *pem.private_key;
        pem_origins_.try_emplace(source.origin, pem.from);
        into.push_back(std::move(source));
    }

    // In the order of names. They come before pem-file's, so that the last pem-file is the default.
    void load_pem_dir()
    {
        std::error_code ec;
        std::vector<std::string> names;
        for (fs::directory_iterator i{*settings_.pem_dir, ec}, end; !ec && i != end;
             i.increment(ec)) {
            std::string const name = i->path().filename().string();
            std::string const& glob = *settings_.pem_dir_glob;
            bool const counts = glob.empty() || ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
            if (counts && name.front() != '.' && !i->is_directory(ec))
                names.push_back(i->path().string());
        }
        if (ec)
            return problem_at(
                settings_.pem_dir.from, "pem-dir",
                fmt::format("cannot read {}: {}", *settings_.pem_dir, ec.message()),
                "Check the path and who may read it.");
        if (names.empty())
            return problem_at(
                settings_.pem_dir.from, "pem-dir",
                fmt::format("{} has no file that counts", *settings_.pem_dir),
                "Put PEM files there, or see pem-dir-glob.");
        std::sort(names.begin(), names.end());
        // Alone, the first of them is the default, whose place is the last.
        if (settings_.pem_files.empty())
            std::rotate(names.begin(), names.begin() + 1, names.end());
        for (std::string const& path : names)
            load_pem({settings_.pem_dir.from, {path, settings_.pem_dir.from}, {}, {}, {}}, shared_);
    }

    // Nothing where they cannot be read; empty where none are wanted.
    std::optional<std::string> load_authorities(
        setting<app::client_verify> const& verify, setting<std::string> const& file)
    {
        if (*verify == app::client_verify::none || file->empty())
            return std::string{};
        return read_file(file.from, "client-verify-ca", *file);
    }

    // What the listener says itself, or else the global setting.
    template <class T>
    static setting<T> const& effective(optional_setting<T> const& own, setting<T> const& global)
    {
        return own ? *own : global;
    }

    void plan(listener const& l)
    {
        listener_plan p;
        p.name = to_string(l.address());
        p.from = l.from;
        p.addresses = addresses_of(l);
        tls::context_spec& spec = p.tls;
        spec.tickets = tickets_;
        fill_protocol(l, spec);
        fill_verification(l, spec);
        if (l.uses_global_certs())
            spec.certificates = shared_;
        for (pem_file const& pem : l.pem_files)
            load_pem(pem, spec.certificates);
        if (spec.certificates.empty()) {
            if (!has_errors(into_.problems))
                problem_at(
                    l.from, "pem-file", fmt::format("{} has no certificate", p.name),
                    "Name a PEM file with a certificate and its key: cleat ... site.pem");
        } else {
            try_out(l, p);
        }
        into_.made.listeners.push_back(std::move(p));
    }

    void fill_protocol(listener const& l, tls::context_spec& spec) const
    {
        tls_versions const versions = *effective(l.tls_protos, settings_.tls_protos);
        using enum tls::protocol_version;
        spec.version_min = versions.tls_1_2 ? tls_1_2 : tls_1_3;
        spec.version_max = versions.tls_1_3 ? tls_1_3 : tls_1_2;
        spec.ciphers = *effective(l.ciphers, settings_.ciphers);
        spec.ciphersuites = *effective(l.ciphersuites, settings_.ciphersuites);
        // A session of a frontend with other suites is not to bring them along.
        spec.session_scope = fmt::format("cleat {} {}", spec.ciphers, spec.ciphersuites);
        spec.prefer_server_ciphers =
            *effective(l.prefer_server_ciphers, settings_.prefer_server_ciphers);
        spec.refuse_unknown_names = *effective(l.sni_nomatch_abort, settings_.sni_nomatch_abort);
        // The default is left out as far as the library does not have it, also where a file that
        // --default-config printed has it in so many words.
        bool const is_default = *settings_.ecdh_curve == *config{}.ecdh_curve;
        spec.groups = (is_default ? "?" : "") + *settings_.ecdh_curve;
        spec.alpn = *settings_.alpn_protos;
    }

    // Where the authorities cannot be read nobody is verified: the rest is to be tried out all the
    // same, and no worker will start.
    void fill_verification(listener const& l, tls::context_spec& spec)
    {
        setting<app::client_verify> const& verify =
            effective(l.client_verify, settings_.client_verify);
        setting<std::string> const& file =
            effective(l.client_verify_ca, settings_.client_verify_ca);
        std::optional<std::string> const authorities = load_authorities(verify, file);
        if (!authorities)
            return;
        spec.verify_authorities = *authorities;
        spec.verify_origin = *file;
        switch (*verify) {
        case app::client_verify::none:
            spec.verify = tls::peer_verification::none;
            break;
        case app::client_verify::optional:
            spec.verify = tls::peer_verification::optional;
            break;
        case app::client_verify::required:
            spec.verify = tls::peer_verification::required;
            break;
        }
    }

    void try_out(listener const& l, listener_plan const& p)
    {
        try {
            tls::context const context{p.tls};
            for (std::string const& finding : context.warnings()) {
                blame const its = blame_for(l, finding);
                warning_at(its.where, its.key, its.text);
            }
        } catch (tls::spec_error const&) {
            for (std::string const& mistake : tls::find_mistakes(p.tls)) {
                blame const its = blame_for(l, mistake);
                problem_at(its.where, its.key, its.text, "");
            }
        }
    }

    // The setting that a finding of the TLS floor is about: it begins with what it is about, as a
    // context_spec calls that.
    struct blame
    {
        origin where;
        std::string key;
        std::string text;
    };

    blame blame_for(listener const& l, std::string const& finding) const
    {
        struct suspect
        {
            std::string about;
            std::string_view key;
            origin const& where;
        };
        setting<std::string> const& authorities =
            effective(l.client_verify_ca, settings_.client_verify_ca);
        std::vector<suspect> suspects{
            {"ciphers", "ciphers", effective(l.ciphers, settings_.ciphers).from},
            {"ciphersuites", "ciphersuites",
             effective(l.ciphersuites, settings_.ciphersuites).from},
            {"groups", "ecdh-curve", settings_.ecdh_curve.from},
            {*authorities, "client-verify-ca", authorities.from}};
        for (auto const& [name, where] : pem_origins_)
            suspects.push_back({name, "pem-file", where});
        for (suspect const& each : suspects) {
            bool const its = finding.starts_with(each.about + ": ");
            if (!its || each.where.is_built_in())
                continue;
            // A file's name stays: the line may not say it.
            bool const is_file = each.key == "pem-file" || each.key == "client-verify-ca";
            return {
                each.where, std::string{each.key},
                is_file ? finding : finding.substr(each.about.size() + 2)};
        }
        return {l.from, "", finding};
    }

    std::vector<net::address> addresses_of(listener const& l)
    {
        result<std::vector<net::address>> found = net::resolve(*l.host, std::to_string(*l.port));
        if (found)
            return *found;
        problem_at(
            l.from, "frontend",
            fmt::format("cannot find the host {}: {}", *l.host, found.error().message()),
            "Give an address of this machine, or * for all of them.");
        return {};
    }

    void find_upstream()
    {
        setting<upstream_address> const& where = settings_.backend;
        if (unix_path const* const path = std::get_if<unix_path>(&*where)) {
            // What is not there yet, or is no socket yet, the backend may still make; it takes away
            // no directory for that.
            std::error_code ec;
            if (fs::is_directory(path->path, ec))
                return problem_at(
                    where.from, "backend", fmt::format("{} is a directory", path->path),
                    "Name the socket that the backend listens on, with its path.");
            result<net::address> const made = net::unix_address(path->path);
            if (made)
                into_.made.upstream = {*made};
            else
                problem_at(
                    where.from, "backend", fmt::format("the path {} is too long", path->path),
                    "The kernel takes at most 107 bytes: use a shorter path or a link.");
            return;
        }
        host_port const& tcp = std::get<host_port>(*where);
        result<std::vector<net::address>> found = net::resolve(tcp.host, std::to_string(tcp.port));
        if (found)
            into_.made.upstream = std::move(*found);
        else
            problem_at(
                where.from, "backend",
                fmt::format("cannot find the host {}: {}", tcp.host, found.error().message()),
                "Check the name, or give the address itself.");
    }

    void set_listen_options()
    {
        net::listen_options& options = into_.made.listen_options;
        options.backlog = *settings_.backlog;
        options.keepalive = *settings_.keepalive;
        if (*settings_.recv_bufsize > 0)
            options.receive_buffer = *settings_.recv_bufsize;
        if (*settings_.send_bufsize > 0)
            options.send_buffer = *settings_.send_bufsize;
    }

    void make_ticket_secret()
    {
        try {
            tickets_ = tls::new_ticket_secret();
        } catch (std::system_error const& e) {
            problem_at(
                {}, "",
                fmt::format(
                    "the kernel gives no random bytes for session tickets: {}", e.code().message()),
                "Allow the system call getrandom(2), which a sandbox may forbid.");
        }
    }

    loading& into_;
    config& settings_;
    std::map<std::string, origin> pem_origins_; // By what the TLS floor calls a certificate.
    std::map<std::string, std::optional<std::string>> files_; // By path; nothing: not readable.
    std::vector<tls::certificate_source> shared_; // Of pem-dir and the global pem-files.
    std::shared_ptr<tls::ticket_secret const> tickets_;
};

} // namespace

loading load(config settings)
{
    loading l;
    l.made.settings = std::move(settings);
    loader{l}.run();
    return l;
}

} // namespace cleat::app
