// A fetch goes to the supply's thread and comes back through the worker's queue of functions from
// other threads. It owns itself: a worker that ends leaves it to its queue.

#include <cleat/core/limits.hpp>
#include <cleat/net/worker_certificates.hpp>
#include <cleat/tls/certificates/certificate.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace cleat::net {

/// fetch is one load, and the connections that wait for it.
struct worker_certificates::fetch : tls::certificate_load, task_node
{
    fetch(worker_certificates& certificates, tls::certificate_request const& request)
        : owner{&certificates}, worker{certificates.worker_}, in_supply{certificates.in_supply_}
    {
        files = request.store->expected(request.wanted);
        folder = request.store->working_folder();
        opener = request.store->opener();
        library = &certificates.table_.library();
        done = &fetch::on_done;
        finish = &fetch::on_turn;
    }

    // On the supply's thread. The worker lives at least until the count below is zero.
    static void on_done(tls::certificate_load& l) noexcept
    {
        fetch& self = static_cast<fetch&>(l);
        std::shared_ptr<std::atomic<int>> const count = self.in_supply;
        self.worker.push(self);
        count->fetch_sub(1);
        count->notify_one();
    }

    static void on_turn(task_node& n, bool) noexcept
    {
        std::unique_ptr<fetch> const self{static_cast<fetch*>(&n)};
        if (self->owner != nullptr)
            self->owner->finished(*self);
    }

    worker_certificates* owner; // Null: it has ended.
    net::worker& worker;
    std::shared_ptr<std::atomic<int>> in_supply;
    waiting* first = nullptr; // The connections that wait.
};

worker_certificates::worker_certificates(
    net::worker& worker, tls::certificate_supply& supply, std::size_t capacity)
    : worker_{worker}
    , supply_{supply}
    , table_{capacity}
    , in_supply_{std::make_shared<std::atomic<int>>(0)}
{
}

worker_certificates::~worker_certificates()
{
    end();
}

void worker_certificates::end() noexcept
{
    for (auto const& [wanted, load] : under_way_) {
        load->abandoned = true;
        load->owner = nullptr;
    }
    for (int left = in_supply_->load(); left != 0; left = in_supply_->load())
        in_supply_->wait(left);
    for (auto const& [wanted, load] : under_way_)
        load->loaded.reset(); // Before the library state that it is made in.
    under_way_.clear();
}

void worker_certificates::renew(std::size_t capacity) noexcept
{
    table_.set_capacity(capacity);
    failures_.clear();
}

bool worker_certificates::has_failed(tls::certificate_request& request)
{
    std::erase_if(
        failures_, [&](failure const& each) { return each.forgotten_at <= worker_.now(); });
    tls::file_digest const& wanted = request.store->summary(request.wanted).digest;
    auto const found = std::ranges::find_if(failures_, [&](failure const& each) {
        return each.certificate == wanted && each.paths == request.store->paths(request.wanted);
    });
    if (found == failures_.end())
        return false;
    request.refusal = found->text;
    return true;
}

void worker_certificates::join(waiting& added)
{
    tls::certificate_request const& request = added.request_;
    auto const [place, is_new] =
        under_way_.try_emplace(request.store->summary(request.wanted).digest, nullptr);
    if (is_new) {
        try {
            place->second = new fetch{*this, request};
        } catch (std::bad_alloc const&) {
            under_way_.erase(place);
            throw;
        }
        in_supply_->fetch_add(1);
        supply_.submit(*place->second);
    }
    fetch& load = *place->second;
    added.load_ = &load;
    added.next_ = std::exchange(load.first, &added);
    if (added.next_ != nullptr)
        added.next_->previous_ = &added;
}

void worker_certificates::finished(fetch& load) noexcept
{
    under_way_.erase(load.files.digest);
    try {
        // A renewed one is read for each handshake until a reload: the old one may come back.
        if (load.loaded && !load.loaded->is_renewed)
            table_.insert(load.files.digest, load.loaded);
        else if (!load.loaded && !load.may_pass)
            remember(load);
    } catch (std::bad_alloc const&) { // The connections that wait have it all the same.
    }
    while (load.first != nullptr)
        load.first->settle(load);
}

void worker_certificates::remember(fetch const& failed)
{
    if (failures_.size() == limits::certificate_failures_max)
        failures_.erase(failures_.begin());
    failures_.push_back(
        {failed.files.digest, failed.files.paths, worker_.now() + limits::certificate_failure_time,
         failed.failure});
}

void worker_certificates::waiting::leave() noexcept
{
    (previous_ != nullptr ? previous_->next_ : load_->first) = next_;
    if (next_ != nullptr)
        next_->previous_ = previous_;
}

void worker_certificates::waiting::settle(fetch const& load) noexcept
{
    leave();
    error_code ec;
    request_.provided = load.loaded;
    try {
        if (!load.loaded)
            request_.refusal = load.failure;
    } catch (std::bad_alloc const&) {
        ec = make_error_code(boost::system::errc::not_enough_memory);
    }
    settled_(*this, ec);
}

worker_certificates::arrival::arrival(
    worker_certificates& certificates, net::interrupt& interrupt,
    tls::certificate_request& request) noexcept
    : waiter{&arrival::on_wake}
    , waiting{certificates, request, &arrival::on_settle}
    , interrupt_{interrupt}
{
    finish = &arrival::on_turn;
}

bool worker_certificates::arrival::await_ready()
{
    error_ = interrupt_.raised();
    return error_ || has_failed();
}

void worker_certificates::arrival::await_suspend(std::coroutine_handle<> caller)
{
    caller_ = caller;
    join();
    interrupt_.guard(this);
}

void worker_certificates::arrival::on_settle(waiting& w, error_code ec) noexcept
{
    arrival& self = static_cast<arrival&>(w);
    self.interrupt_.guard(nullptr);
    self.error_ = ec;
    self.worker().push_here(self, priority::handshake);
}

void worker_certificates::arrival::on_wake(waiter& w, error_code ec) noexcept
{
    arrival& self = static_cast<arrival&>(w);
    self.leave();
    self.error_ = ec;
    self.caller_.resume();
}

// As in `ready`: a deadline that has passed meanwhile ends the next wait.
void worker_certificates::arrival::on_turn(task_node& n, bool) noexcept
{
    arrival& self = static_cast<arrival&>(n);
    if (self.interrupt_.raised() == error::stopped)
        self.error_ = error::stopped;
    self.caller_.resume();
}

} // namespace cleat::net
