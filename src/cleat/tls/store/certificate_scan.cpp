// The list is cut into pieces of limits::certificates_read_together. Each thread takes the next
// piece and leaves what it has found; the caller's thread hands the pieces on in their order.

#include <cleat/core/limits.hpp>
#include <cleat/core/steady_yield.hpp>
#include <cleat/tls/certificates/certificate_use.hpp>
#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/store/certificate_loader.hpp>
#include <cleat/tls/store/certificate_scan.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <thread>

namespace cleat::tls {
namespace {

/// scanner is one thread's: a state of the TLS library, and a context to try certificates in.
class scanner
{
public:
    explicit scanner(scan_handlers const& handlers)
        : handlers_{handlers}, ctx_{library_.new_ctx(true)}
    {
        if (ctx_ == nullptr)
            throw std::bad_alloc{};
    }

    [[nodiscard]] scanned_certificate scan(certificate_paths const& paths)
    {
        scanned_certificate found;
        try {
            certificate_on_disk there =
                read_from_disk(library_, paths, {}, found.warnings, handlers_.opener);
            if (handlers_.with_facts)
                found.facts = describe_certificate(there.read);
            use_certificate(ctx_.get(), there.read);
            SSL_CTX_clear_chain_certs(ctx_.get());
            found.names = there.read.names;
            found.is_bad_response = true; // If reading it throws.
            found.summary = summary_of(there);
            read_response_from_disk(
                library_, paths, {}, there, found.response_warnings, handlers_.opener);
            found.is_bad_response = false;
            found.summary.digest = there.digest;
            found.response_digest = there.response_digest;
            found.stamps = there.stamps;
        } catch (load_error const& failed) {
            found.error = failed.what();
            found.cure = failed.cure;
        } catch (spec_error const& failed) {
            found.error = failed.what();
            if (handlers_.with_facts && !found.facts)
                found.facts = describe_files(library_, paths);
        }
        clear_errors();
        return found;
    }

private:
    scan_handlers const& handlers_;
    backend::library_state library_;
    ssl_ctx_ptr ctx_;
};

class scan
{
public:
    scan(scan_list const& all, scan_handlers const& handlers)
        : all_{all}, handlers_{handlers}, pieces_((all.count + piece_size - 1) / piece_size)
    {
    }

    void run(std::size_t threads)
    {
        {
            threads = std::min({threads, pieces_.size(), limits::certificate_readers_max});
            std::vector<std::jthread> others;
            while (others.size() + 1 < threads)
                others.emplace_back([this] { help(); });
            try {
                read_own();
            } catch (...) {
                next_ = pieces_.size(); // The others end with the piece that they read.
                throw;
            }
        }
        for (piece const& each : pieces_)
            if (each.failure)
                std::rethrow_exception(each.failure);
        hand_on();
    }

private:
    static constexpr std::size_t piece_size = limits::certificates_read_together;

    struct piece
    {
        std::vector<scanned_certificate> found;
        std::exception_ptr failure;
        std::atomic<bool> done{false};
    };

    void read_own()
    {
        scanner own{handlers_};
        while (read_next(own)) {
            hand_on();
            if (handlers_.progress)
                handlers_.progress(read_.load());
        }
    }

    void help() noexcept
    {
        try {
            scanner own{handlers_};
            while (read_next(own)) {
            }
        } catch (...) { // The caller's thread reads everything.
        }
    }

    // Reads the next piece. False: there is none.
    bool read_next(scanner& own) noexcept
    {
        std::size_t const number = next_++;
        if (number >= pieces_.size())
            return false;
        piece& mine = pieces_[number];
        std::size_t const begin = number * piece_size;
        std::size_t const size = std::min(piece_size, all_.count - begin);
        try {
            mine.found.reserve(size);
            steady_yield others_first;
            for (std::size_t i = begin; i < begin + size; ++i, others_first.count_step())
                mine.found.push_back(recall_or_scan(i, own));
        } catch (...) {
            mine.failure = std::current_exception();
        }
        read_ += size;
        mine.done = true;
        return true;
    }

    [[nodiscard]] scanned_certificate recall_or_scan(std::size_t index, scanner& own) const
    {
        if (handlers_.recall) {
            scanned_certificate known;
            certificate_stamps stamps = stamps_of(all_.paths(index), {});
            if (!stamps.is_known() && handlers_.others_stamps)
                stamps = handlers_.others_stamps(all_.paths(index));
            if (stamps.is_known() && handlers_.recall(index, stamps, known)) {
                known.stamps = stamps;
                known.is_recalled = true;
                return known;
            }
        }
        return own.scan(all_.paths(index));
    }

    // Hands on the pieces that are done, up to the first that is not.
    void hand_on()
    {
        for (; handed_on_ < pieces_.size() && pieces_[handed_on_].done; ++handed_on_) {
            std::vector<scanned_certificate> const found = std::move(pieces_[handed_on_].found);
            steady_yield others_first;
            for (std::size_t i = 0; i < found.size(); ++i, others_first.count_step())
                handlers_.found(handed_on_ * piece_size + i, found[i]);
        }
    }

    scan_list const& all_;
    scan_handlers const& handlers_;
    std::vector<piece> pieces_;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::size_t> read_{0};
    std::size_t handed_on_ = 0;
};

} // namespace

void scan_certificates(scan_list const& all, std::size_t threads, scan_handlers const& handlers)
{
    scan{all, handlers}.run(std::max<std::size_t>(threads, 1));
}

} // namespace cleat::tls
