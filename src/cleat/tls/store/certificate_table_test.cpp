#include <cleat/tls/certificates/certificate.hpp>
#include <cleat/tls/store/certificate_table.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <vector>

namespace cleat::tls::certificate_table_test {
namespace {

using loaded = certificate_table::loaded;
using numbers = std::vector<certificate_store::number>;

loaded make()
{
    return std::make_shared<certificate const>();
}

/// A table with the certificates 0 to capacity - 1, the last one used last.
struct full_table
{
    explicit full_table(certificate_store::number capacity) : table{store, capacity}
    {
        for (certificate_store::number i = 0; i < capacity; ++i)
            table.insert(i, make());
    }

    // Those of the numbers below ten that are in the table. It uses each of them.
    numbers kept()
    {
        numbers found;
        for (certificate_store::number i = 0; i < 10; ++i)
            if (table.find(i) != nullptr)
                found.push_back(i);
        return found;
    }

    certificate_store store{"/"};
    certificate_table table;
};

} // namespace

TEST_CASE("a table finds what was inserted, and nothing else")
{
    full_table t{3};
    loaded const added = make();
    t.table.insert(7, added);
    CHECK(t.table.find(7) == added.get());
    CHECK(t.table.find(8) == nullptr);
    CHECK(&t.table.store() == &t.store);
}

TEST_CASE("a full table drops the certificate that was used least recently")
{
    full_table t{3};
    t.table.insert(3, make());
    CHECK(t.table.size() == 3);
    CHECK(t.kept() == numbers{1, 2, 3});
    t.table.insert(4, make());
    CHECK(t.kept() == numbers{2, 3, 4});
}

TEST_CASE("a certificate that was found is used last")
{
    full_table t{3};
    CHECK(t.table.find(0) != nullptr);
    t.table.insert(3, make());
    CHECK(t.kept() == numbers{0, 2, 3});
}

TEST_CASE("a search in vain changes nothing")
{
    full_table t{3};
    CHECK(t.table.find(9) == nullptr);
    t.table.insert(3, make());
    CHECK(t.kept() == numbers{1, 2, 3});
}

TEST_CASE("a table has room for one certificate, also where its capacity is none")
{
    for (std::size_t const capacity : {0U, 1U}) {
        certificate_store const store{"/"};
        certificate_table table{store, capacity};
        table.insert(0, make());
        CHECK(table.find(0) != nullptr);
        table.insert(1, make());
        CHECK(table.find(0) == nullptr);
        CHECK(table.find(1) != nullptr);
        CHECK(table.size() == 1);
    }
}

TEST_CASE("a certificate that is in the table already stays")
{
    full_table t{2};
    certificate const* const first = t.table.find(0);
    t.table.insert(0, make());
    CHECK(t.table.find(0) == first);
    CHECK(t.table.size() == 2);
}

TEST_CASE("a certificate that the table drops is freed after its last user")
{
    full_table t{1};
    loaded used = make();
    std::weak_ptr<certificate const> const watched = used;
    t.table.insert(1, used);
    t.table.insert(2, make());
    CHECK(t.table.find(1) == nullptr);
    CHECK_FALSE(watched.expired());
    used.reset();
    CHECK(watched.expired());
}

} // namespace cleat::tls::certificate_table_test
