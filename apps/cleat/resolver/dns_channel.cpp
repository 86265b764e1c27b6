#include "resolver/dns_channel.hpp"
#include "resolver/service_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <ares.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace cleat::app {
namespace {

constexpr char const* out_of_memory = "out of memory"; // Short enough to need none.

constexpr int attempt_ms = 2000; // For each server, doubled at the second attempt.
constexpr int attempts = 2;

std::string dns_failure_text(int status)
{
    switch (status) {
    case ARES_ENOTFOUND:
        return "the name does not exist (NXDOMAIN)";
    case ARES_ENODATA:
        return "the name has no such record";
    case ARES_ETIMEOUT:
        return "no server of DNS has answered in time";
    case ARES_ECONNREFUSED:
        return "no server of DNS can be reached, or all have failed"; // SERVFAIL, REFUSED.
    default:
        return ::ares_strerror(status);
    }
}

// The server says that there is nothing; any other failure says nothing about the name.
bool is_negative(int status) noexcept
{
    return status == ARES_ENOTFOUND || status == ARES_ENODATA;
}

net::address socket_address_of(ares_addrinfo_node const& node, std::uint16_t port) noexcept
{
    net::address made;
    made.size = std::min<socklen_t>(node.ai_addrlen, sizeof made.storage);
    std::memcpy(&made.storage, node.ai_addr, made.size);
    if (node.ai_family == AF_INET)
        reinterpret_cast<sockaddr_in&>(made.storage).sin_port = htons(port);
    else
        reinterpret_cast<sockaddr_in6&>(made.storage).sin6_port = htons(port);
    return made;
}

// This machine has an address that could reach it. No packet is sent.
bool can_reach(net::address const& address) noexcept
{
    unique_fd const fd{::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    return fd && ::connect(fd.get(), address.data(), address.size) == 0;
}

// As RFC 6724 does: those that can be reached first, and among these IPv6 before IPv4.
void order(std::vector<net::address>& addresses)
{
    auto const middle = std::ranges::stable_partition(addresses, can_reach).begin();
    auto const is_ipv6 = [](net::address const& each) { return each.family() == AF_INET6; };
    std::stable_partition(addresses.begin(), middle, is_ipv6);
}

// The addresses of a host.
struct found_host
{
    std::vector<net::address> addresses;
    std::chrono::seconds ttl{0};
    bool is_from_file = false;
    std::string failure;
};

// Two queries under way, for a host's addresses of each family. It destroys itself.
class host_query
{
public:
    using done = std::function<void(found_host)>;

    host_query(std::uint16_t port, std::vector<net::address> known, done use)
        : port_{port}, known_{std::move(known)}, use_{std::move(use)}
    {
    }

    // The queries end this object with the second answer, which may come within the call.
    static void start(ares_channel channel, std::string const& name, host_query* query)
    {
        constexpr std::array families{AF_INET, AF_INET6};
        for (std::size_t i = 0; i < families.size(); ++i) {
            query->parts_[i] = {query, families[i]};
            ares_addrinfo_hints const hints{
                .ai_flags = ARES_AI_NOSORT,
                .ai_family = families[i],
                .ai_socktype = SOCK_STREAM,
                .ai_protocol = 0};
            ::ares_getaddrinfo(
                channel, name.c_str(), nullptr, &hints, &on_answer, &query->parts_[i]);
        }
    }

private:
    struct part
    {
        host_query* whole = nullptr;
        int family = 0;
    };

    static void on_answer(void* context, int status, int, ares_addrinfo* found) noexcept
    {
        part const& one = *static_cast<part*>(context);
        std::unique_ptr<ares_addrinfo, void (*)(ares_addrinfo*)> const owner{
            found, ::ares_freeaddrinfo};
        host_query* const self = one.whole;
        try {
            self->add(one.family, status, found);
        } catch (std::bad_alloc const&) {
            self->failure_ = ARES_ENOMEM;
        }
        if (--self->left_ != 0)
            return;
        std::unique_ptr<host_query> const end{self};
        if (self->is_destroyed_)
            return;
        found_host answer;
        try {
            answer = self->result();
        } catch (std::bad_alloc const&) {
            answer.failure = out_of_memory;
        }
        self->use_(std::move(answer));
    }

    void add(int family, int status, ares_addrinfo const* found)
    {
        is_destroyed_ = is_destroyed_ || status == ARES_EDESTRUCTION;
        if (status == ARES_SUCCESS && (found == nullptr || found->nodes == nullptr))
            status = ARES_ENODATA;
        if (status == ARES_SUCCESS)
            return add_addresses(*found);
        if (!is_negative(status)) {
            failure_ = status;
            std::ranges::copy_if(known_, std::back_inserter(kept_), [=](auto const& each) {
                return each.family() == family;
            });
        } else if (is_negative(failure_) || failure_ == ARES_SUCCESS) {
            failure_ = status;
        }
    }

    void add_addresses(ares_addrinfo const& found)
    {
        for (ares_addrinfo_node const* each = found.nodes; each != nullptr; each = each->ai_next) {
            addresses_.push_back(socket_address_of(*each, port_));
            ttl_ = std::min(ttl_, each->ai_ttl);
        }
        for (ares_addrinfo_cname const* each = found.cnames; each != nullptr; each = each->next)
            ttl_ = std::min(ttl_, each->ttl);
    }

    // Where one family has addresses, the name exists: the other family has none, or its addresses
    // are not known.
    [[nodiscard]] found_host result()
    {
        if (addresses_.empty())
            return {{}, {}, false, dns_failure_text(failure_)};
        std::ranges::copy(kept_, std::back_inserter(addresses_));
        order(addresses_);
        bool const is_whole = failure_ == ARES_SUCCESS || is_negative(failure_);
        return {
            std::move(addresses_), std::chrono::seconds{std::max(ttl_, 0)}, false,
            is_whole ? std::string{} : dns_failure_text(failure_)};
    }

    std::uint16_t port_;
    std::vector<net::address> known_;
    done use_;
    std::array<part, 2> parts_{};
    int left_ = 2;
    int failure_ = ARES_SUCCESS;
    int ttl_ = 0x7fffffff;
    bool is_destroyed_ = false;
    std::vector<net::address> addresses_;
    std::vector<net::address> kept_; // Of a family that could not be asked for.
};

dns_target const* find_target(std::vector<dns_target> const& all, std::string_view name) noexcept
{
    auto const found = std::ranges::find(all, name, &dns_target::name);
    return found == all.end() ? nullptr : &*found;
}

std::vector<net::address> known_addresses(std::vector<dns_target> const& all, std::string_view name)
{
    dns_target const* const found = find_target(all, name);
    return found == nullptr ? std::vector<net::address>{} : found->addresses;
}

} // namespace

struct dns_channel::library
{
    explicit library(dns_settings const& settings)
    {
        static int const loaded = ::ares_library_init(ARES_LIB_INIT_NONE);
        if (loaded != ARES_SUCCESS)
            throw std::runtime_error{dns_failure_text(loaded)};
        open(dns, "b");
        open(file, "f");
        if (settings.servers.empty())
            return;
        std::string const servers = fmt::format("{}", fmt::join(settings.servers, ","));
        if (int const failed = ::ares_set_servers_ports_csv(dns, servers.c_str()))
            throw std::runtime_error{dns_failure_text(failed)};
    }
    library(library&&) = delete;
    ~library()
    {
        for (ares_channel const each : {dns, file})
            if (each != nullptr)
                ::ares_destroy(each);
    }

    static void open(ares_channel& channel, char const* where)
    {
        std::string lookups{where};
        ares_options options{};
        options.timeout = attempt_ms;
        options.tries = attempts;
        options.lookups = lookups.data();
        int const chosen = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS;
        if (int const failed = ::ares_init_options(&channel, &options, chosen))
            throw std::runtime_error{dns_failure_text(failed)};
    }

    // /etc/hosts, where it has the name: of both families, or of one. The callback has been called
    // when the call returns.
    [[nodiscard]] found_host find_in_file(std::string const& name, std::uint16_t port) const
    {
        struct context
        {
            found_host found;
            std::uint16_t port;
        } made{{}, port};
        ares_addrinfo_hints const hints{
            .ai_flags = ARES_AI_NOSORT,
            .ai_family = AF_UNSPEC,
            .ai_socktype = SOCK_STREAM,
            .ai_protocol = 0};
        auto const use = [](void* to, int, int, ares_addrinfo* found) {
            std::unique_ptr<ares_addrinfo, void (*)(ares_addrinfo*)> const owner{
                found, ::ares_freeaddrinfo};
            auto& [into, number] = *static_cast<context*>(to);
            for (ares_addrinfo_node const* each = found == nullptr ? nullptr : found->nodes;
                 each != nullptr; each = each->ai_next)
                into.addresses.push_back(socket_address_of(*each, number));
        };
        ::ares_getaddrinfo(file, name.c_str(), nullptr, &hints, use, &made);
        order(made.found.addresses);
        made.found.is_from_file = !made.found.addresses.empty();
        return std::move(made.found);
    }

    void find_host(
        std::string const& name, std::uint16_t port, std::vector<net::address> known,
        host_query::done use) const
    {
        found_host in_file = find_in_file(name, port);
        if (in_file.is_from_file)
            return use(std::move(in_file));
        auto query = std::make_unique<host_query>(port, std::move(known), std::move(use));
        host_query::start(dns, name, query.release());
    }

    ares_channel dns = nullptr;
    ares_channel file = nullptr;
};

namespace {

// A lookup of a service under way: its records, and then each target's addresses.
struct service_query
{
    std::vector<dns_target> known;
    dns_channel::done use;
    std::function<void(std::shared_ptr<service_query>, std::vector<service_record>)> find_hosts;
    std::size_t targets_max = 0;
    dns_answer answer{};
    bool is_done = false;

    static void on_answer(void* context, int status, int, unsigned char* message, int size) noexcept
    {
        std::unique_ptr<std::shared_ptr<service_query>> const owner{
            static_cast<std::shared_ptr<service_query>*>(context)};
        service_query& self = **owner;
        if (status == ARES_EDESTRUCTION)
            return;
        try {
            self.read(*owner, status, {message, static_cast<std::size_t>(size)});
        } catch (std::bad_alloc const&) {
            self.fail(out_of_memory);
        }
    }

    void read(
        std::shared_ptr<service_query> const& owner, int status,
        std::span<unsigned char const> message)
    {
        if (status != ARES_SUCCESS)
            return fail(dns_failure_text(status));
        std::optional<service_records> const found = read_services(message);
        if (!found)
            return fail(dns_failure_text(ARES_EBADRESP));
        std::vector<service_record> records = order_services(found->records, targets_max);
        if (records.empty())
            return fail(
                found->records.empty() ? "the name has no such record"
                                       : "the service is not offered");
        answer.ttl = found->ttl;
        find_hosts(owner, std::move(records));
    }

    void fail(std::string why)
    {
        answer.failure = std::move(why);
        finish();
    }

    // Once: a failure for want of memory may come before the answers about hosts.
    void finish()
    {
        if (!std::exchange(is_done, true))
            use(std::move(answer));
    }

    void add(service_record const& record, bool is_backup, found_host found)
    {
        std::string name = fmt::format("{}:{}", record.host, record.port);
        if (!found.failure.empty())
            answer.failure = fmt::format("{}: {}", record.host, found.failure);
        if (found.addresses.empty())
            found.addresses = known_addresses(known, name);
        else if (!found.is_from_file)
            answer.ttl = std::min(answer.ttl, found.ttl);
        if (!found.addresses.empty())
            answer.targets.push_back(
                {std::move(name), std::move(found.addresses), std::max(record.weight, 1U),
                 is_backup});
    }
};

} // namespace

dns_channel::dns_channel(dns_settings const& settings, std::size_t targets_max)
    : library_{std::make_unique<library>(settings)}, targets_max_{targets_max}
{
}

dns_channel::~dns_channel() = default;

void dns_channel::look_up(
    dns_question const& question, std::vector<dns_target> const& known, done const& use)
{
    ++under_way_;
    done const end = [this, use](dns_answer answer) {
        --under_way_;
        use(std::move(answer));
    };
    if (question.what == dns_question::kind::host)
        return library_->find_host(
            question.name, question.port, known_addresses(known, {}), [end](found_host found) {
                dns_answer answer{{}, found.ttl, found.is_from_file, std::move(found.failure)};
                try {
                    if (!found.addresses.empty())
                        answer.targets.push_back({{}, std::move(found.addresses)});
                } catch (std::bad_alloc const&) {
                    answer.failure = out_of_memory;
                }
                end(std::move(answer));
            });
    auto query = std::make_shared<service_query>();
    query->known = known;
    query->use = end;
    query->targets_max = targets_max_;
    query->find_hosts = [this](
                            std::shared_ptr<service_query> const& self,
                            std::vector<service_record> const& records) {
        auto const left = std::make_shared<std::size_t>(records.size());
        unsigned const best = records.front().priority;
        for (service_record const& each : records)
            library_->find_host(
                each.host, each.port,
                known_addresses(self->known, fmt::format("{}:{}", each.host, each.port)),
                [self, left, best, each](found_host found) {
                    try {
                        self->add(each, each.priority != best, std::move(found));
                    } catch (std::bad_alloc const&) {
                        self->answer.failure = out_of_memory;
                    }
                    if (--*left == 0)
                        self->finish();
                });
    };
    constexpr int internet = 1;
    constexpr int srv = 33;
    auto context = std::make_unique<std::shared_ptr<service_query>>(std::move(query));
    ::ares_search(
        library_->dns, question.name.c_str(), internet, srv, &service_query::on_answer,
        context.release());
}

void dns_channel::add_descriptors(std::vector<pollfd>& all) const
{
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
    auto const bits = static_cast<unsigned>(
        ::ares_getsock(library_->dns, sockets.data(), static_cast<int>(sockets.size())));
    for (unsigned i = 0; i < sockets.size(); ++i) {
        int const events = (ARES_GETSOCK_READABLE(bits, i) != 0 ? POLLIN : 0) |
                           (ARES_GETSOCK_WRITABLE(bits, i) != 0 ? POLLOUT : 0);
        if (events != 0)
            all.push_back({sockets[i], static_cast<short>(events), 0});
    }
}

void dns_channel::process(std::span<pollfd const> own)
{
    for (pollfd const& each : own) {
        bool const reads = (each.revents & (POLLIN | POLLERR | POLLHUP)) != 0;
        bool const writes = (each.revents & POLLOUT) != 0;
        if (reads || writes)
            ::ares_process_fd(
                library_->dns, reads ? each.fd : ARES_SOCKET_BAD,
                writes ? each.fd : ARES_SOCKET_BAD);
    }
    ::ares_process_fd(library_->dns, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

std::optional<std::chrono::milliseconds> dns_channel::timeout() const
{
    timeval left{};
    if (::ares_timeout(library_->dns, nullptr, &left) == nullptr)
        return {};
    return std::chrono::milliseconds{left.tv_sec * 1000 + (left.tv_usec + 999) / 1000};
}

dns_answer dns_answer_now(
    dns_settings const& settings, dns_question const& question, std::size_t targets_max)
{
    dns_answer found;
    try {
        dns_channel channel{settings, targets_max};
        channel.look_up(question, {}, [&](dns_answer answer) { found = std::move(answer); });
        while (!channel.is_idle()) {
            std::vector<pollfd> waited;
            channel.add_descriptors(waited);
            std::chrono::milliseconds const time =
                channel.timeout().value_or(std::chrono::milliseconds{attempt_ms});
            static_cast<void>(::poll(waited.data(), waited.size(), static_cast<int>(time.count())));
            channel.process(waited);
        }
    } catch (std::runtime_error const& e) {
        found.failure = e.what();
    }
    return found;
}

} // namespace cleat::app
