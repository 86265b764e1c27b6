// certificate_supply: loads certificates on a thread of its own, while workers serve. Not a public
// header.

#pragma once

#include <cleat/core/inbox.hpp>
#include <cleat/core/unique_fd.hpp>
#include <cleat/tls/store/certificate_store.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace cleat::tls {

struct certificate;
namespace backend {
class library_state;
}

/// certificate_load is one certificate on its way from its files. Its owner keeps it until `done`
/// has been called.
struct certificate_load
{
    expected_files files;
    std::string folder; ///< Where relative paths begin.
    file_opener opener; ///< Opens files that this process may not open.
    backend::library_state const* library = nullptr; ///< Outlives the load.
    /// Called on the loader's thread, once. Nothing reads the load afterwards.
    void (*done)(certificate_load& self) noexcept = nullptr;
    /// Set by the owner to have `done` called without reading the file.
    std::atomic<bool> abandoned{false};

    // The outcome: the certificate, or else why there is none.
    std::shared_ptr<certificate const> loaded;
    std::string failure;
    bool may_pass = false; ///< See load_error.

    certificate_load* next = nullptr; ///< For the supply.
};

/// certificate_supply is used by any number of workers. It ends after the last of them.
class certificate_supply
{
public:
    /// reader reads one certificate, and throws as load_certificate does: tests replace it.
    using reader =
        std::function<std::shared_ptr<certificate const>(certificate_load const& wanted)>;

    /// Starts the thread. Throws std::system_error.
    certificate_supply();
    explicit certificate_supply(reader read);
    certificate_supply(certificate_supply&&) = delete;

    /// Waits for the file that is being read. The loads behind it are done without reading, as if
    /// they were abandoned.
    ~certificate_supply();

    /// submit loads certificates one after the other, in the order of submission. Any thread.
    void submit(certificate_load& load) noexcept;

private:
    void run() noexcept;
    void load(certificate_load& wanted) const noexcept;
    void wake() const noexcept;

    reader read_;
    unique_fd wakeup_; // An eventfd.
    inbox<certificate_load, &certificate_load::next> submitted_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

} // namespace cleat::tls
