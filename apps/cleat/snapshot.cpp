#include "certificate_files.hpp"
#include "config/problem_list.hpp"
#include "snapshot.hpp"

#include <cleat/net/socket_options.hpp>
#include <cleat/tls/context.hpp>
#include <cleat/tls/ticket_secret.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace cleat::app {
namespace {

namespace fs = std::filesystem;

class loader
{
public:
    explicit loader(loading& loaded)
        : made_{loaded.made}, settings_{loaded.made.settings}, problems_{loaded.problems}
    {
    }

    void run()
    {
        make_ticket_secret();
        shared_ = files_.read_shared();
        for (frontend_config const& l : settings_.frontends)
            plan(l);
        find_upstream();
        set_listen_options();
    }

private:
    // No value where the file cannot be read; an empty text where no client is verified.
    std::optional<std::string> load_authorities(
        setting<app::client_verify> const& verify, setting<std::string> const& file)
    {
        if (*verify == app::client_verify::none || file->empty())
            return std::string{};
        return files_.read_text(file.location, "client-verify-ca", *file);
    }

    void plan(frontend_config const& l)
    {
        frontend_plan p;
        p.name = to_string(l.address());
        p.location = l.location;
        p.addresses = find_addresses(l);
        tls::context_spec& spec = p.tls;
        spec.tickets = tickets_;
        fill_protocol(l, spec);
        fill_verification(l, spec);
        if (l.uses_global_certs())
            spec.certificates = shared_;
        for (pem_file const& pem : l.pem_files)
            files_.read_certificate(pem, spec.certificates);
        if (spec.certificates.empty()) {
            if (!problems_.has_errors())
                problems_.error(
                    l.location, "pem-file", fmt::format("{} has no certificate", p.name),
                    "Name a PEM file with a certificate and its key: cleat ... site.pem");
        } else {
            try_out(l, p);
        }
        made_.frontends.push_back(std::move(p));
    }

    void fill_protocol(frontend_config const& l, tls::context_spec& spec) const
    {
        tls_versions const versions = *effective(l.tls_protos, settings_.tls_protos);
        using enum tls::protocol_version;
        spec.version_min = versions.tls_1_2 ? tls_1_2 : tls_1_3;
        spec.version_max = versions.tls_1_3 ? tls_1_3 : tls_1_2;
        spec.ciphers = *effective(l.ciphers, settings_.ciphers);
        spec.ciphersuites = *effective(l.ciphersuites, settings_.ciphersuites);
        // A frontend must not resume a session of another one whose suites it does not allow.
        spec.session_scope = fmt::format("cleat {} {}", spec.ciphers, spec.ciphersuites);
        spec.prefer_server_ciphers =
            *effective(l.prefer_server_ciphers, settings_.prefer_server_ciphers);
        spec.refuse_unknown_names = *effective(l.sni_nomatch_abort, settings_.sni_nomatch_abort);
        // The default list leaves out the groups that the library does not have, also where a file
        // has it that --default-config printed.
        bool const is_default = *settings_.ecdh_curve == *config{}.ecdh_curve;
        spec.groups = (is_default ? "?" : "") + *settings_.ecdh_curve;
        spec.alpn = *settings_.alpn_protos;
    }

    // Where the authorities cannot be read, no client is verified: the rest of the plan is tried
    // out all the same, and no worker will start.
    void fill_verification(frontend_config const& l, tls::context_spec& spec)
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

    void try_out(frontend_config const& l, frontend_plan const& p)
    {
        try {
            tls::context const context{p.tls};
            for (std::string const& finding : context.warnings()) {
                blame const found = blame_for(l, finding);
                problems_.warning(found.where, found.key, found.text);
            }
        } catch (tls::spec_error const&) {
            for (std::string const& mistake : tls::find_mistakes(p.tls)) {
                blame const found = blame_for(l, mistake);
                problems_.error(found.where, found.key, found.text, "");
            }
        }
    }

    // The setting that a finding of the TLS library is about. A finding begins with the name of a
    // member of context_spec, or of a certificate.
    struct blame
    {
        location where;
        std::string key;
        std::string text;
    };

    blame blame_for(frontend_config const& l, std::string const& finding) const
    {
        struct suspect
        {
            std::string about;
            std::string_view key;
            location const& where;
        };
        setting<std::string> const& authorities =
            effective(l.client_verify_ca, settings_.client_verify_ca);
        std::vector<suspect> suspects{
            {"ciphers", "ciphers", effective(l.ciphers, settings_.ciphers).location},
            {"ciphersuites", "ciphersuites",
             effective(l.ciphersuites, settings_.ciphersuites).location},
            {"groups", "ecdh-curve", settings_.ecdh_curve.location},
            {*authorities, "client-verify-ca", authorities.location}};
        for (auto const& [name, where] : files_.locations())
            suspects.push_back({name, "pem-file", where});
        for (suspect const& each : suspects) {
            bool const is_about = finding.starts_with(each.about + ": ");
            if (!is_about || each.where.is_built_in())
                continue;
            // A file's name stays: the line of the setting may not have it.
            bool const is_file = each.key == "pem-file" || each.key == "client-verify-ca";
            return {
                each.where, std::string{each.key},
                is_file ? finding : finding.substr(each.about.size() + 2)};
        }
        return {l.location, "", finding};
    }

    std::vector<net::address> find_addresses(frontend_config const& l)
    {
        result<std::vector<net::address>> found = net::resolve(*l.host, std::to_string(*l.port));
        if (found)
            return *found;
        problems_.error(
            l.location, "frontend",
            fmt::format("cannot find the host {}: {}", *l.host, found.error().message()),
            "Give an address of this machine, or * for all of them.");
        return {};
    }

    void find_upstream()
    {
        setting<upstream_address> const& where = settings_.backend;
        if (unix_path const* const path = std::get_if<unix_path>(&*where)) {
            // The backend may still make its socket, also in the place of a file, but not in that
            // of a directory.
            std::error_code ec;
            if (fs::is_directory(path->path, ec))
                return problems_.error(
                    where.location, "backend", fmt::format("{} is a directory", path->path),
                    "Name the socket that the backend listens on, with its path.");
            result<net::address> const made = net::unix_address(path->path);
            if (made)
                made_.upstream = {*made};
            else
                problems_.error(
                    where.location, "backend", fmt::format("the path {} is too long", path->path),
                    "The kernel takes at most 107 bytes: use a shorter path or a link.");
            return;
        }
        host_port const& tcp = std::get<host_port>(*where);
        result<std::vector<net::address>> found = net::resolve(tcp.host, std::to_string(tcp.port));
        if (found)
            made_.upstream = std::move(*found);
        else
            problems_.error(
                where.location, "backend",
                fmt::format("cannot find the host {}: {}", tcp.host, found.error().message()),
                "Check the name, or give the address itself.");
    }

    void set_listen_options()
    {
        net::listen_options& options = made_.listen_options;
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
            problems_.error(
                {}, "",
                fmt::format(
                    "the kernel gives no random bytes for session tickets: {}", e.code().message()),
                "Allow the system call getrandom(2), which a sandbox may forbid.");
        }
    }

    snapshot& made_;
    config const& settings_;
    problem_list problems_;
    certificate_files files_{settings_, problems_};
    certificate_files::sources shared_; // Of pem-dir and the global pem-files.
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
