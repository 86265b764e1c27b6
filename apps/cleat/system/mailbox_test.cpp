// Nodes come out in the order in which they were posted, and none is lost or left.

#include "system/mailbox.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace cleat::app::mailbox_test {
namespace {

struct letter
{
    letter(int n, int& lives) : number{n}, alive{lives} { ++alive; }
    letter(letter&&) = delete;
    ~letter() { --alive; }

    int number;
    int& alive;
    letter* next = nullptr;
};

TEST_CASE("letters come in their order, also those that are posted meanwhile")
{
    int alive = 0;
    mailbox<letter> box;
    CHECK(box.next() == nullptr);
    box.post(std::make_unique<letter>(1, alive));
    box.post(std::make_unique<letter>(2, alive));
    CHECK(box.next()->number == 1);
    box.post(std::make_unique<letter>(3, alive));
    CHECK(box.next()->number == 2);
    CHECK(box.next()->number == 3);
    CHECK(box.next() == nullptr);
    CHECK(alive == 0);
}

TEST_CASE("a mailbox drops the letters that nobody has taken")
{
    int alive = 0;
    {
        mailbox<letter> box;
        for (int i = 0; i < 3; ++i)
            box.post(std::make_unique<letter>(i, alive));
        static_cast<void>(box.next());
        CHECK(alive == 2);
        box.post(std::make_unique<letter>(3, alive));
    }
    CHECK(alive == 0);
}

} // namespace
} // namespace cleat::app::mailbox_test
