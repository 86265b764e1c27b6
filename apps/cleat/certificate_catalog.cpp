#include "certificate_catalog.hpp"
#include "progress_line.hpp"

#include <cleat/net/worker_pool.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace cleat::app {
namespace {

// All certificates in a row: the shared ones, then those of each plan.
class catalog_filler
{
public:
    catalog_filler(
        certificate_files::names const& shared, std::vector<set_plan> const& plans,
        problem_list& problems, scan_observer const& observer)
        : shared_{shared.size()}, problems_{problems}, observer_{observer}
    {
        made_.store =
            std::make_unique<tls::certificate_store>(std::filesystem::current_path().string());
        append(shared);
        for (set_plan const& plan : plans) {
            made_.sets.push_back(std::make_unique<tls::certificate_set>());
            std::size_t const begin = paths_.size();
            append(plan.own);
            members_.push_back({plan.with_shared, begin, paths_.size()});
        }
    }

    certificate_catalog fill()
    {
        progress_line progress{"certificates read", paths_.size()};
        tls::scan_certificates(
            paths_, net::worker_count(0),
            {.found = [&](std::size_t index,
                          tls::scanned_certificate const& found) { take(index, found); },
             .progress = [&](std::size_t read) { progress.show(read); },
             .with_facts = static_cast<bool>(observer_)});
        made_.store->shrink();
        for (std::unique_ptr<tls::certificate_set> const& each : made_.sets)
            each->shrink();
        return std::move(made_);
    }

private:
    struct members
    {
        bool with_shared;
        std::size_t own_begin;
        std::size_t own_end;
    };

    void append(certificate_files::names const& more)
    {
        for (named_certificate const& each : more) {
            paths_.push_back(each.paths);
            locations_.push_back(each.where);
        }
    }

    void take(std::size_t index, tls::scanned_certificate const& found)
    {
        if (observer_)
            observer_(paths_[index], found);
        location const& where = *locations_[index];
        for (std::string const& warning : found.warnings)
            problems_.warning(where, "pem-file", warning);
        if (!found.error.empty())
            return problems_.error(where, "pem-file", found.error, std::string{found.cure});
        tls::certificate_store::number const number =
            made_.store->add(paths_[index], found.summary);
        for (std::size_t i = 0; i < members_.size(); ++i)
            if (has(members_[i], index))
                add(*made_.sets[i], number, index == last_of(members_[i]), found);
    }

    [[nodiscard]] bool has(members const& each, std::size_t index) const noexcept
    {
        return index < shared_ ? each.with_shared : index >= each.own_begin && index < each.own_end;
    }

    [[nodiscard]] std::size_t last_of(members const& each) const noexcept
    {
        return (each.own_begin == each.own_end ? shared_ : each.own_end) - 1;
    }

    void add(
        tls::certificate_set& set, tls::certificate_store::number number, bool is_default,
        tls::scanned_certificate const& found)
    {
        tls::key_type const type = found.summary.type;
        set.add(number, type, found.names, [&](std::string const& name, std::uint32_t replaced) {
            problems_.warning(
                {}, "",
                tls::replaced_name_warning(
                    made_.store->origin(replaced), made_.store->origin(number), name));
        });
        if (is_default)
            set.set_default(number, type, found.names);
    }

    std::size_t shared_;
    problem_list& problems_;
    scan_observer const& observer_;
    certificate_catalog made_;
    std::vector<tls::certificate_paths> paths_;
    std::vector<location const*> locations_;
    std::vector<members> members_; // By set.
};

} // namespace

certificate_catalog fill_catalog(
    certificate_files::names const& shared, std::vector<set_plan> const& plans,
    problem_list& problems, scan_observer const& observer)
{
    return catalog_filler{shared, plans, problems, observer}.fill();
}

} // namespace cleat::app
