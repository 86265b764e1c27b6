#include "supervise/index_writer.hpp"
#include "system/low_priority.hpp"

#include <cleat/tls/store/certificate_index.hpp>

#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <pthread.h>

namespace cleat::app {
namespace {

// A part of all certificates.
constexpr std::size_t part_unwritten_max = 64;

bool has_index(generation const& present) noexcept
{
    snapshot const& configuration = *present.configuration;
    return configuration.catalog.store && !configuration.settings.certificate_index->empty();
}

// The configuration may be freed while its index is written; a copy of its store is cheap.
struct index_to_write
{
    tls::certificate_store store;
    std::string path;
    std::shared_ptr<log_sink> sink;
    logger log;

    [[nodiscard]] bool write() const noexcept
    {
        error_code failed = make_error_code(boost::system::errc::not_enough_memory);
        try {
            failed = tls::write_index(store, path);
        } catch (std::bad_alloc const&) { // As `failed` says.
        }
        if (failed)
            log.warning("certificate-index-not-written").add("file", path).add("reason", failed);
        return !failed;
    }
};

} // namespace

index_writer::~index_writer()
{
    wait();
}

void index_writer::wait()
{
    if (thread_.joinable())
        thread_.join();
    take_back_unwritten();
}

// On a full disk, for example.
void index_writer::take_back_unwritten() noexcept
{
    if (has_failed_.exchange(false))
        unwritten_ += std::exchange(begun_, 0);
}

void index_writer::follow(generation const& present)
{
    take_back_unwritten();
    unwritten_ += present.configuration->catalog.unremembered;
    bool const is_first = std::exchange(is_first_, false);
    if (!has_index(present) || unwritten_ == 0)
        return;
    std::size_t const all = present.configuration->catalog.store->size();
    if (is_first || unwritten_ > all / part_unwritten_max)
        begin(present);
}

void index_writer::finish(generation const& present)
{
    wait();
    if (has_index(present) && unwritten_ != 0)
        begin(present);
    wait();
}

void index_writer::begin(generation const& present)
{
    wait();
    snapshot const& configuration = *present.configuration;
    auto next = std::make_unique<index_to_write>(index_to_write{
        tls::certificate_store{*configuration.catalog.store},
        tls::whole_path(
            *configuration.settings.certificate_index,
            configuration.catalog.store->working_folder()),
        present.sink, present.log});
    try {
        thread_ = std::thread{[index = std::move(next), &failed = has_failed_] {
            static_cast<void>(::pthread_setname_np(::pthread_self(), "index"));
            lower_priority();
            if (!index->write())
                failed = true;
        }};
        begun_ = std::exchange(unwritten_, 0);
    } catch (std::system_error const& e) {
        present.log.warning("certificate-index-not-written").add("reason", e.what());
    }
}

} // namespace cleat::app
