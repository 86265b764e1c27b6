// history: runs that wrote something, with backups, so that a run can be undone.

#pragma once

#include "provider/registry.hpp"
#include "sync/plan.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace statsync {

/// outcome: what a run did with one provider. An empty error is success.
struct outcome
{
    std::string provider;
    std::size_t track_count = 0;
    std::string error;
};

/// progress is called before each step of a run, with a sentence for the user.
using progress = std::function<void(std::string const&)>;

/// history: each run has a folder with the values before and after, and with a backup of each
/// database. The newest run_count_max runs are kept. Beside the runs are the baselines.
class history
{
public:
    static constexpr std::size_t run_count_max = 5;

    explicit history(std::filesystem::path const& folder)
        : folder_(folder / "runs"), baselines_(folder / "baselines")
    {
    }

    baseline_folder const& baselines() const { return baselines_; }

    /// write applies the changes, a list for each provider. It checks all players, then backs all
    /// databases up, then writes. Throws a failure before the first write; after that an error ends
    /// the work on one provider. Then it stores what the providers remember, unless that is empty.
    /// A provider whose write failed, and all of a run that was interrupted, remember nothing.
    /// Here and in undo: failure(problem::in_use) while another process is in one of the two.
    std::vector<outcome> write(
        provider_list const& providers, std::vector<std::vector<change>> const& changes,
        std::span<baseline const> remembered_after, progress const& report) const;

    /// undo takes the newest run back that is not undone. A database that has not changed since is
    /// restored from its backup; in another one each value that is still as it was written goes
    /// back. Where a write without transactions failed, each value goes back that is not as it was.
    /// A provider that is forgotten stays as it is. One whose settings name another database now is
    /// an error, and the run can be undone later.
    /// Throws failure(problem::settings) if there is nothing to undo.
    std::vector<outcome> undo(registry const& configured, progress const& report) const;

private:
    std::filesystem::path new_run() const;
    /// runs: of those that have a record, or of those that ended before, and so wrote nothing.
    std::vector<std::filesystem::path> runs(bool have_record) const;
    void forget_old_runs() const;
    void forget_unfinished_runs() const;

    std::filesystem::path folder_;
    baseline_folder baselines_;
};

} // namespace statsync
