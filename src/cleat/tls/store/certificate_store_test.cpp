#include <cleat/tls/store/certificate_store.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleat::tls::certificate_store_test {
namespace {

using numbers = std::vector<certificate_store::number>;
using names = std::vector<std::string>;

names names_of(certificate_store const& store, certificate_store::number certificate)
{
    names found;
    store.for_each_name(certificate, [&](std::string_view each) { found.emplace_back(each); });
    return found;
}

numbers all_of(certificate_store const& store)
{
    numbers found;
    store.for_each([&](certificate_store::number each) { found.push_back(each); });
    return found;
}

certificate_store::number add(
    certificate_store& store, certificate_paths const& paths, names const& all = {},
    std::int64_t valid_until = 0)
{
    return store.add({.paths = paths, .summary = {.valid_until = valid_until}, .names = all});
}

} // namespace

TEST_CASE("a store gives back the paths that it took")
{
    certificate_store store{"/srv"};
    std::vector<certificate_paths> const all{
        {"/a/one.pem", ""},
        {"/a/two.pem", "/keys/two.key"},
        {"three.pem", "below/three.key"},
        {"/a/four.pem", "/a/four.key"},
        {"/a/" + std::string(255, 'x'), ""}};
    for (certificate_paths const& each : all)
        CHECK(add(store, each) == &each - all.data());
    store.seal();
    CHECK(store.size() == all.size());
    for (certificate_store::number i = 0; i < store.size(); ++i)
        CHECK(store.paths(i) == all[i]);
    CHECK(store.origin(0) == "/a/one.pem");
    CHECK(store.origin(1) == "/a/two.pem with /keys/two.key");
    CHECK(store.working_folder() == "/srv");
}

TEST_CASE("a file's name that is too long is refused, and leaves no trace")
{
    certificate_store store{"/"};
    CHECK_THROWS_AS(add(store, {"/a/" + std::string(256, 'x'), ""}), std::length_error);
    CHECK_THROWS_AS(add(store, {"a", "/a/" + std::string(256, 'x')}), std::length_error);
    CHECK(store.size() == 0);
    CHECK(all_of(store).empty());
}

TEST_CASE("certificates are found by either of their files, and by both with their source")
{
    certificate_store store{"/"};
    add(store, {"/a/one.pem", "/a/key"});
    add(store, {"/a/two.pem", "/a/key"});
    add(store, {"/b/one.pem", ""});
    CHECK(store.with_file("/a/key") == numbers{0, 1});
    CHECK(store.with_file("/a/two.pem") == numbers{1});
    CHECK(store.with_file("/b/one.pem") == numbers{2});
    CHECK(store.with_file("/b/two.pem").empty());
    CHECK(store.with_file("/a/").empty());
    CHECK(store.find({"/a/one.pem", "/a/key"}, 0) == 0);
    CHECK(store.find({"/a/one.pem", "/a/key"}, 1) == certificate_store::none);
    CHECK(store.find({"/a/one.pem", ""}, 0) == certificate_store::none);
    CHECK(store.find({"/b/one.pem", ""}, 0) == 2);
    store.set_source(2, 9);
    CHECK(store.find({"/b/one.pem", ""}, 9) == 2);
}

TEST_CASE("a certificate that is removed is gone, and its number is used again")
{
    certificate_store store{"/"};
    add(store, {"/a/one.pem", ""}, {"one.example"});
    add(store, {"/a/two.pem", ""}, {"two.example"});
    store.remove(0);
    CHECK(store.size() == 1);
    CHECK(all_of(store) == numbers{1});
    CHECK(store.with_file("/a/one.pem").empty());
    CHECK(add(store, {"/c/three.pem", ""}, {"three.example", "*.three.example"}) == 0);
    CHECK(names_of(store, 0) == names{"three.example", ".three.example"});
    CHECK(names_of(store, 1) == names{"two.example"});
    CHECK(store.origin(0) == "/c/three.pem");
}

TEST_CASE("a certificate that changes over and over keeps its files, and the others theirs")
{
    certificate_store store{"/"};
    for (int i = 0; i < 300; ++i)
        add(store, {"/a/" + std::to_string(i), "/k/" + std::to_string(i)},
            {std::to_string(i) + ".example"});
    for (int i = 0; i < 1000; ++i) {
        names const all(static_cast<std::size_t>(i % 4), "new" + std::to_string(i) + ".example");
        store.replace(130, {.valid_until = i}, all, {.chain = 1, .private_key = 2});
    }
    CHECK(names_of(store, 130) == names(3, "new999.example"));
    CHECK(store.summary(130).valid_until == 999);
    CHECK(store.stamps(130) == certificate_stamps{1, 2});
    for (certificate_store::number i = 0; i < 300; ++i) {
        REQUIRE(store.origin(i) == "/a/" + std::to_string(i) + " with /k/" + std::to_string(i));
        if (i != 130)
            REQUIRE(names_of(store, i) == names{std::to_string(i) + ".example"});
    }
}

TEST_CASE("those that expire by a time are found, also after a change")
{
    certificate_store store{"/"};
    for (int i = 0; i < 1000; ++i)
        add(store, {"/a/" + std::to_string(i), ""}, {}, 1000 + i);
    auto const ending_by = [&](std::int64_t time) {
        numbers found;
        store.for_each_ending_by(
            time, [&](certificate_store::number each) { found.push_back(each); });
        return found;
    };
    CHECK(ending_by(999).empty());
    CHECK(ending_by(1001) == numbers{0, 1});
    store.replace(0, {.valid_until = 5000}, {}, {});
    store.replace(700, {.valid_until = 5}, {}, {});
    store.remove(1);
    CHECK(ending_by(1002) == numbers{2, 700});
}

TEST_CASE("a copy can change, and the store that it was copied from stays as it is")
{
    certificate_store before{"/srv"};
    for (int i = 0; i < 1000; ++i)
        add(before, {"/" + std::to_string(i % 200) + "/" + std::to_string(i), ""},
            {std::to_string(i) + ".example"});
    before.seal();
    certificate_store after{before};
    names const changed{"changed.example"};
    after.replace(500, {.valid_until = 1}, changed, {});
    after.remove(999);
    CHECK(add(after, {"/new/folder", ""}, {"new.example"}) == 999);
    add(after, {"/new/other", ""});
    after.seal();
    CHECK(names_of(before, 500) == names{"500.example"});
    CHECK(names_of(after, 500) == changed);
    CHECK(before.origin(999) == "/199/999");
    CHECK(after.origin(999) == "/new/folder");
    CHECK(before.size() == 1000);
    CHECK(after.size() == 1001);
    CHECK(before.with_file("/new/other").empty());
    CHECK(after.with_file("/new/other") == numbers{1000});
    CHECK(after.with_file("/199/999").empty());
    CHECK(after.working_folder() == "/srv");
}

TEST_CASE("a certificate with an OCSP response keeps that file, its digest, and no other's")
{
    file_digest first{};
    first.fill(std::byte{1});
    file_digest second{};
    second.fill(std::byte{2});
    certificate_store store{"/"};
    for (int i = 0; i < 300; ++i)
        add(store, {"/a/" + std::to_string(i), ""}, {std::to_string(i) + ".example"});
    certificate_paths const paths{"/a/one.pem", "/k/one", "/responses/one"};
    certificate_store::number const one = store.add({.paths = paths, .response_digest = first});
    CHECK(store.paths(one) == paths);
    CHECK(store.has_response(one));
    CHECK(store.expected(one).response_digest == first);
    CHECK(store.find(paths, 0) == one);
    CHECK(store.find({"/a/one.pem", "/k/one"}, 0) == certificate_store::none);
    CHECK(store.find({"/a/one.pem", "/k/one", "/responses/two"}, 0) == certificate_store::none);
    CHECK_FALSE(store.has_response(one - 1));
    CHECK(store.response_digest(one - 1) == file_digest{});
    store.seal();

    certificate_store next{store};
    names const many(200, "some-long-name.example"); // So that the block is tidied.
    for (int i = 0; i < 10; ++i)
        next.replace(one, {}, many, {}, second);
    CHECK(next.paths(one) == paths);
    CHECK(next.response_digest(one) == second);
    CHECK(store.response_digest(one) == first);
    next.remove(one);
    CHECK(next.find(paths, 0) == certificate_store::none);
    CHECK(add(next, {"/a/other.pem", ""}) == one);
    CHECK_FALSE(next.has_response(one));
    CHECK(store.paths(one) == paths);
}

} // namespace cleat::tls::certificate_store_test
