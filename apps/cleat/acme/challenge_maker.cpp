#include "acme/challenge.hpp"
#include "acme/challenge_maker.hpp"

#include <cleat/core/assert.hpp>
#include <cleat/tls/store/certificate_store.hpp>
#include <cleat/tls/store/file_text.hpp>

#include <fmt/format.h>

#include <new>
#include <utility>
#include <vector>

namespace cleat::app {
namespace {

bool is_missing(tls::file_text const& read) noexcept
{
    return read.fault == tls::file_fault::error &&
           read.reason == boost::system::errc::no_such_file_or_directory;
}

std::string fault_of(tls::file_text const& failed, std::string const& path)
{
    return fmt::format("{}. {}", tls::description(failed, path), tls::cure(failed));
}

// No session resumes, no client is verified: an ACME server looks at the certificate and leaves.
tls::context_spec spec_for(
    challenge const& wanted, tls::certificate_paths const& paths, tls::secret_text const& chain,
    tls::secret_text const& key)
{
    tls::context_spec spec;
    spec.version_min = wanted.version_min;
    spec.version_max = wanted.version_max;
    spec.alpn = {std::string{challenge_protocol}};
    spec.certificates.push_back(
        {.chain = chain,
         .private_key = key.empty() ? chain : key,
         .origin = tls::origin_of(paths)});
    return spec;
}

} // namespace

made_challenge make_challenge(challenge const& wanted, file_opener const& opener)
{
    std::vector<tls::certificate_paths> const places =
        challenge_files(wanted.folder, wanted.server_name);
    for (tls::certificate_paths const& paths : places) {
        tls::file_text const chain = tls::read_file(paths.chain, opener);
        if (is_missing(chain) && &paths != &places.back())
            continue;
        if (is_missing(chain))
            return {.refusal = fmt::format("there is no {}", tls::origin_of(places.front()))};
        if (chain.fault != tls::file_fault::none)
            return {.refusal = fault_of(chain, paths.chain)};
        tls::file_text const key = paths.private_key.empty()
                                       ? tls::file_text{}
                                       : tls::read_file(paths.private_key, opener);
        if (key.fault != tls::file_fault::none)
            return {.refusal = fault_of(key, paths.private_key)};
        try {
            return {
                .context =
                    std::make_unique<tls::context>(spec_for(wanted, paths, chain.text, key.text))};
        } catch (tls::spec_error const& wrong) {
            return {.refusal = wrong.what()};
        }
    }
    return {};
}

challenge_request::challenge_request(net::worker& origin, challenge question)
    : worker{origin}, wanted{std::move(question)}
{
    finish = [](net::task_node& node, bool run) {
        std::unique_ptr<challenge_request> const self{static_cast<challenge_request*>(&node)};
        if (run && self->asker != nullptr)
            self->asker->settle(*self);
    };
}

challenge_maker::challenge_maker(std::function<void()> wake, file_opener opener)
    : wake_{std::move(wake)}, opener_{std::move(opener)}
{
}

challenge_maker::~challenge_maker()
{
    for (challenge_request* next = asked_.take(); next != nullptr;)
        std::unique_ptr<challenge_request>{std::exchange(next, next->next_asked)}.reset();
}

void challenge_maker::submit(std::unique_ptr<challenge_request> asked) noexcept
{
    asked_.push(*asked.release());
    wake_();
}

void challenge_maker::serve() noexcept
{
    for (challenge_request* next = asked_.take(); next != nullptr;) {
        challenge_request& current = *std::exchange(next, next->next_asked);
        try {
            current.made = make_challenge(current.wanted, opener_);
            if (current.made.context)
                current.made.context->leave_thread();
        } catch (std::bad_alloc const&) {
            current.made.refusal = "out of memory"; // Short enough to need none.
        }
        current.worker.push(current);
    }
}

challenge_arrival::challenge_arrival(
    challenge_maker& maker, net::interrupt& interrupt, challenge wanted, made_challenge& made)
    : waiter{&challenge_arrival::on_wake}
    , maker_{maker}
    , interrupt_{interrupt}
    , made_{made}
    , unsent_{std::make_unique<challenge_request>(interrupt.worker(), std::move(wanted))}
{
}

bool challenge_arrival::await_ready() noexcept
{
    error_ = interrupt_.raised();
    return static_cast<bool>(error_);
}

void challenge_arrival::await_suspend(std::coroutine_handle<> caller) noexcept
{
    caller_ = caller;
    sent_ = unsent_.get();
    sent_->asker = this;
    interrupt_.guard(this);
    maker_.submit(std::move(unsent_));
}

void challenge_arrival::settle(challenge_request& done)
{
    interrupt_.guard(nullptr);
    made_ = std::move(done.made);
    caller_.resume();
}

void challenge_arrival::on_wake(net::waiter& w, error_code ec) noexcept
{
    challenge_arrival& self = static_cast<challenge_arrival&>(w);
    self.sent_->asker = nullptr;
    self.error_ = ec;
    self.caller_.resume();
}

} // namespace cleat::app
