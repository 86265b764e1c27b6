#include <cleat/core/limits.hpp>
#include <cleat/net/worker_sessions.hpp>

#include <new>
#include <utility>

namespace cleat::net {

/// question owns itself on its way to the worker that is asked, and back. It refers to no
/// handshake, which may end before: it has the number that the handshake waits for.
struct worker_sessions::question : task_node
{
    question(worker_sessions& a, worker_sessions& o, tls::session_id const& i) noexcept
        : asker{a}, owner{o}, id{i}, number{++a.asked_}
    {
        finish = &question::on_asked;
    }

    // On the thread of the worker that is asked; or, where that ends, on any: it has no answer
    // then, and the asking worker may have ended, too.
    static void on_asked(task_node& n, bool run) noexcept
    {
        std::unique_ptr<question> self{static_cast<question*>(&n)};
        if (!run)
            return;
        try {
            self->found = tls::encoded_session{
                self->owner.cache_.find(self->id, tls::session_id_cache::clock::now())};
        } catch (std::bad_alloc const&) { // As where it has none.
        }
        self->finish = &question::on_answered;
        net::worker& back = self->asker.worker_;
        back.push(*self.release());
    }

    // On the asking worker's thread. Answers come in the order of the questions, so the handshake
    // is the first or near it, or has ended.
    static void on_answered(task_node& n, bool) noexcept
    {
        std::unique_ptr<question> const self{static_cast<question*>(&n)};
        answer* waits = self->asker.first_[tls::worker_of(self->id)];
        while (waits != nullptr && waits->number_ < self->number)
            waits = waits->next_;
        if (waits != nullptr && waits->number_ == self->number)
            waits->settle(std::move(self->found));
    }

    worker_sessions& asker;
    worker_sessions& owner;
    tls::session_id id;
    std::uint64_t number;
    tls::encoded_session found;
};

worker_sessions::worker_sessions(net::worker& worker, session_owners& owners)
    : worker_{worker}
    , owners_{owners}
    , cache_{worker.number(), owners.size()}
    , first_(owners.size())
    , last_(owners.size())
{
    owners_.owners_[worker.number()].store(this, std::memory_order_release);
}

void worker_sessions::end() noexcept
{
    owners_.owners_[worker_.number()].store(nullptr, std::memory_order_relaxed);
}

worker_sessions::answer::answer(worker_sessions& sessions, net::interrupt& interrupt) noexcept
    : waiter{&answer::on_wake}
    , deadline{&answer::on_late}
    , sessions_{sessions}
    , interrupt_{interrupt}
    , id_{sessions.cache_.asked()}
{
    finish = &answer::on_turn;
}

bool worker_sessions::answer::await_ready() noexcept
{
    error_ = interrupt_.raised();
    return error_ || sessions_.owners_.owners_[tls::worker_of(id_)].load(
                         std::memory_order_relaxed) == nullptr;
}

void worker_sessions::answer::await_suspend(std::coroutine_handle<> caller)
{
    std::size_t const asked = tls::worker_of(id_);
    worker_sessions* const owner = sessions_.owners_.owners_[asked].load(std::memory_order_acquire);
    caller_ = caller;
    sessions_.worker_.arm(*this, limits::session_answer_time);
    if (owner != nullptr) { // It may have ended since.
        auto sent = std::make_unique<question>(sessions_, *owner, id_);
        number_ = sent->number;
        owner->worker_.push(*sent.release());
    }
    answer*& last = sessions_.last_[asked];
    previous_ = std::exchange(last, this);
    (previous_ == nullptr ? sessions_.first_[asked] : previous_->next_) = this;
    interrupt_.guard(this);
}

// The next call of the handshake takes the answer, also one without a session.
error_code worker_sessions::answer::await_resume() noexcept
{
    sessions_.cache_.answer(id_, std::move(found_));
    return error_;
}

void worker_sessions::answer::leave() noexcept
{
    std::size_t const asked = tls::worker_of(id_);
    (previous_ == nullptr ? sessions_.first_[asked] : previous_->next_) = next_;
    (next_ == nullptr ? sessions_.last_[asked] : next_->previous_) = previous_;
    cancel();
}

void worker_sessions::answer::settle(tls::encoded_session found) noexcept
{
    leave();
    interrupt_.guard(nullptr);
    found_ = std::move(found);
    sessions_.worker_.push_here(*this, priority::handshake);
}

void worker_sessions::answer::on_wake(waiter& w, error_code ec) noexcept
{
    answer& self = static_cast<answer&>(w);
    self.leave();
    self.error_ = ec;
    self.caller_.resume();
}

void worker_sessions::answer::on_late(deadline& d) noexcept
{
    static_cast<answer&>(d).settle({});
}

// As in `ready`: a deadline that has passed meanwhile ends the next wait.
void worker_sessions::answer::on_turn(task_node& n, bool) noexcept
{
    answer& self = static_cast<answer&>(n);
    if (self.interrupt_.raised() == error::stopped)
        self.error_ = error::stopped;
    self.caller_.resume();
}

} // namespace cleat::net
