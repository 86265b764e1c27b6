#include <cleat/net/executor.hpp>
#include <cleat/net/repeated_task.hpp>
#include <cleat/net/worker.hpp>

#include <utility>

namespace cleat::net {

struct repeated_task::node : task_node
{
    explicit node(std::function<void()> f) : function{std::move(f)} { finish = &node::on_turn; }

    static void on_turn(task_node& queued, bool run)
    {
        node& self = static_cast<node&>(queued);
        self.is_queued = false;
        if (!self.has_owner)
            delete &self;
        else if (run)
            self.function();
    }

    std::function<void()> function;
    bool has_owner = true;
    bool is_queued = false;
};

repeated_task::repeated_task(worker& owner, std::function<void()> function)
    : worker_{owner}, node_{std::make_unique<node>(std::move(function))}
{
}

repeated_task::~repeated_task()
{
    if (node_->is_queued)
        node_.release()->has_owner = false;
}

void repeated_task::queue(priority level) noexcept
{
    if (!std::exchange(node_->is_queued, true))
        worker_.push_here(*node_, level);
}

} // namespace cleat::net
