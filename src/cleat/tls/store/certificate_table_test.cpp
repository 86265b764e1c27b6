#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/store/certificate_table.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <vector>

namespace cleat::tls::certificate_table_test {
namespace {

using loaded = certificate_table::loaded;
using numbers = std::vector<unsigned>;

file_digest digest(unsigned number)
{
    file_digest made{};
    made.back() = static_cast<std::byte>(number); // The hash does not see it.
    return made;
}

loaded make()
{
    return std::make_shared<certificate const>();
}

/// A table with the certificates 0 to capacity - 1, the last one used last.
struct full_table
{
    explicit full_table(unsigned capacity) : table{capacity}
    {
        for (unsigned i = 0; i < capacity; ++i)
            table.insert(digest(i), make());
    }

    // Those of the numbers below ten that are in the table. It uses each of them.
    numbers kept()
    {
        numbers found;
        for (unsigned i = 0; i < 10; ++i)
            if (table.find(digest(i)) != nullptr)
                found.push_back(i);
        return found;
    }

    certificate_table table;
};

} // namespace

TEST_CASE("a table finds what was inserted, and nothing else")
{
    full_table t{3};
    loaded const added = make();
    t.table.insert(digest(7), added);
    CHECK(t.table.find(digest(7)) == added.get());
    CHECK(t.table.find(digest(8)) == nullptr);
}

TEST_CASE("a full table drops the certificate that was used least recently")
{
    full_table t{3};
    t.table.insert(digest(3), make());
    CHECK(t.table.size() == 3);
    CHECK(t.kept() == numbers{1, 2, 3});
    t.table.insert(digest(4), make());
    CHECK(t.kept() == numbers{2, 3, 4});
}

TEST_CASE("a certificate that was found is used last")
{
    full_table t{3};
    CHECK(t.table.find(digest(0)) != nullptr);
    t.table.insert(digest(3), make());
    CHECK(t.kept() == numbers{0, 2, 3});
}

TEST_CASE("a search in vain changes nothing")
{
    full_table t{3};
    CHECK(t.table.find(digest(9)) == nullptr);
    t.table.insert(digest(3), make());
    CHECK(t.kept() == numbers{1, 2, 3});
}

TEST_CASE("a table has room for one certificate, also where its capacity is none")
{
    for (std::size_t const capacity : {0U, 1U}) {
        certificate_table table{capacity};
        table.insert(digest(0), make());
        CHECK(table.find(digest(0)) != nullptr);
        table.insert(digest(1), make());
        CHECK(table.find(digest(0)) == nullptr);
        CHECK(table.find(digest(1)) != nullptr);
        CHECK(table.size() == 1);
    }
}

TEST_CASE("a certificate that is in the table already stays")
{
    full_table t{2};
    certificate const* const first = t.table.find(digest(0));
    t.table.insert(digest(0), make());
    CHECK(t.table.find(digest(0)) == first);
    CHECK(t.table.size() == 2);
}

TEST_CASE("a certificate that the table drops is freed after its last user")
{
    full_table t{1};
    loaded used = make();
    std::weak_ptr<certificate const> const watched = used;
    t.table.insert(digest(1), used);
    t.table.insert(digest(2), make());
    CHECK(t.table.find(digest(1)) == nullptr);
    CHECK_FALSE(watched.expired());
    used.reset();
    CHECK(watched.expired());
}

TEST_CASE("a table that becomes smaller drops those that were used least recently")
{
    full_table t{5};
    CHECK(t.table.find(digest(0)) != nullptr);
    t.table.set_capacity(2);
    CHECK(t.kept() == numbers{0, 4});
    t.table.set_capacity(0);
    CHECK(t.table.size() == 1);
    t.table.clear();
    CHECK(t.table.size() == 0);
    t.table.insert(digest(3), make());
    CHECK(t.kept() == numbers{3});
}

} // namespace cleat::tls::certificate_table_test
