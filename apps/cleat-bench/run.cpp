#include "generator.hpp"
#include "run.hpp"

#include <cleat/core/unique_fd.hpp>
#include <cleat/net/worker_pool.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <future>
#include <memory>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace cleat::bench {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Workers are told when to begin so long before it, so that they begin together.
constexpr auto head_start = 20ms;

[[noreturn]] void fail(char const* what)
{
    throw std::system_error{errno, std::system_category(), what};
}

// interrupt_signals collects SIGINT and SIGTERM as long as it lives. Made before there are threads.
class interrupt_signals
{
public:
    interrupt_signals()
    {
        ::sigemptyset(&set_);
        ::sigaddset(&set_, SIGINT);
        ::sigaddset(&set_, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
        fd_ = unique_fd{::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK)};
        if (!fd_)
            fail("signalfd");
    }
    interrupt_signals(interrupt_signals&&) = delete;
    ~interrupt_signals()
    {
        // One that comes now is not to end who writes the results of this run; but whoever holds
        // signals back himself waits for it.
        if (::sigismember(&before_, SIGINT) == 0)
            static_cast<void>(take());
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] bool take() noexcept
    {
        signalfd_siginfo info{};
        bool any = false;
        while (::read(fd_.get(), &info, sizeof info) == sizeof info)
            any = true;
        return any;
    }

private:
    sigset_t set_{};
    sigset_t before_{};
    unique_fd fd_;
};

// A worker without a connection to keep busy would take its share of the transactions and do
// nothing about them.
std::size_t workers_for(load_spec const& use)
{
    std::size_t const workers = net::worker_count(use.workers);
    closed const* const loop = std::get_if<closed>(&use.arrive);
    return loop == nullptr ? workers : std::min<std::size_t>(workers, loop->connections);
}

class load_run
{
public:
    explicit load_run(load_spec const& use)
        : use_{use}
        , done_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}
        , generators_(workers_for(use))
        , tallies_(generators_.size())
        , pool_{{
              .workers = generators_.size(),
              // Pinning helps who has all cores; beside a server it may tie both to one.
              .pin = false,
              .begin = [this](net::worker& on) { make(on); },
              .end = [this](net::worker& on) { take(on); },
          }}
    {
        if (!done_)
            fail("eventfd");
    }

    ended_run go(conduct const& how, interrupt_signals& signals)
    {
        ended_run end;
        std::size_t const all = generators_.size();
        auto const wall = std::chrono::system_clock::now();
        auto const wait = how.start_at ? std::max<clock::duration>(*how.start_at - wall, head_start)
                                       : clock::duration{head_start};
        moment const begin = clock::now() + wait;
        moment const measured = begin + use_.warm_up;
        end.started = wall + wait + use_.warm_up;
        pool_.broadcast([this, begin](net::worker& on) {
            generators_[on.number()]->begin(begin, [this] {
                std::uint64_t const one = 1;
                static_cast<void>(!::write(done_.get(), &one, sizeof one));
            });
        });

        // Everybody gets the time that the stages have; then what is left is unfinished.
        moment const last = measured + use_.duration;
        moment const patience =
            last + use_.timeouts.connect + use_.timeouts.handshake + use_.timeouts.answer;
        moment look = how.watch ? begin + how.every : patience;
        std::uint64_t ended = 0;
        bool to_its_time = !use_.transactions;
        while (ended < all) {
            moment const now = clock::now();
            if (now >= patience)
                break;
            if (how.watch && now >= look) {
                proceed const wanted = how.watch(look_at(measured));
                if (wanted == proceed::stop)
                    break;
                to_its_time = to_its_time && wanted == proceed::on;
                if (wanted == proceed::finish)
                    pool_.broadcast(
                        [this](net::worker& on) { generators_[on.number()]->finish(); });
                look = std::max(look + how.every, now); // Late ones are left out.
            }
            pollfd fds[] = {{signals.fd(), POLLIN, 0}, {done_.get(), POLLIN, 0}};
            auto const left =
                std::chrono::ceil<std::chrono::milliseconds>(std::min(look, patience) - now);
            ::poll(fds, 2, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
            std::uint64_t more = 0;
            if (::read(done_.get(), &more, sizeof more) == sizeof more)
                ended += more;
            if (signals.take()) {
                end.partial = end.interrupted = true;
                break;
            }
        }
        end.measured = std::max<clock::duration>(clock::now() - measured, 1ns);
        if (!end.partial && to_its_time)
            end.measured = std::max(end.measured, use_.duration);
        pool_.stop(); // Interrupts what is still there: unfinished.
        for (tally const& each : tallies_) {
            end.counts.interval_length = each.interval_length;
            end.counts.merge(each);
            end.worker_cpu.push_back(each.cpu);
        }
        return end;
    }

private:
    void make(net::worker& on)
    {
        // The kernel may round a timer up by this much to save wake-ups; its default is 50 us.
        ::prctl(PR_SET_TIMERSLACK, 1UL);
        generators_[on.number()] =
            std::make_unique<generator>(on, use_, share{on.number(), generators_.size()});
    }

    void take(net::worker& on)
    {
        tallies_[on.number()] = generators_[on.number()]->close_account();
        generators_[on.number()].reset();
    }

    glimpse look_at(moment measured)
    {
        glimpse sum;
        std::vector<std::future<glimpse>> answers;
        for (std::size_t i = 0; i != generators_.size(); ++i) {
            std::promise<glimpse> promise;
            answers.push_back(promise.get_future());
            pool_[i]
                .get_executor()
                .require(boost::asio::execution::blocking.never)
                .execute([g = generators_[i].get(), p = std::move(promise)]() mutable {
                    p.set_value(g->look());
                });
        }
        for (std::future<glimpse>& each : answers) {
            glimpse const one = each.get();
            sum.attempts += one.attempts;
            sum.ok += one.ok;
            for (auto const& [what, count] : one.failures)
                sum.failures[what] += count;
            sum.in_flight += one.in_flight;
            sum.response.merge(one.response);
            sum.slip.merge(one.slip);
            add(sum.timeline, one.timeline);
            add(sum.by_start, one.by_start);
            sum.cpu += one.cpu;
        }
        sum.since_begin = clock::now() - measured;
        return sum;
    }

    load_spec const& use_;
    unique_fd done_;
    std::vector<std::unique_ptr<generator>> generators_;
    std::vector<tally> tallies_;
    net::worker_pool pool_; // Its threads use all of the above.
};

} // namespace

ended_run run_load(load_spec const& use, conduct const& how)
{
    interrupt_signals signals;
    ended_run end = load_run{use}.go(how, signals);
    end.interrupted |= signals.take();
    return end;
}

} // namespace cleat::bench
