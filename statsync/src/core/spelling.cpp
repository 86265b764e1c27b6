#include "core/spelling.hpp"

#include <algorithm>

namespace statsync {
namespace {

bool has_own_spelling(participant const& one)
{
    return one.spelling != nullptr && !one.spelling->empty();
}

std::string const& spelled_label(std::string const& label, label_spelling const& spelling)
{
    auto const found = spelling.find(label);
    return found == spelling.end() ? label : found->second;
}

/// common: the labels in every spelling of theirs that the others use.
label_set common(label_set const& own, label_set const& of_others, label_spelling const& spelling)
{
    label_set labels = own;
    label_set replaced;
    for (std::string const& label : of_others) {
        std::string const& same = spelled_label(label, spelling);
        if (own.contains(same)) {
            labels.insert(label);
            replaced.insert(same);
        }
    }
    for (std::string const& label : replaced) {
        if (!of_others.contains(label)) {
            labels.erase(label);
        }
    }
    return labels;
}

} // namespace

label_set spelled(label_set const& labels, label_spelling const& spelling)
{
    label_set own;
    for (std::string const& label : labels) {
        own.insert(spelled_label(label, spelling));
    }
    return own;
}

std::vector<participant> in_one_spelling(
    std::span<participant const> participants, label_set const& excluded)
{
    std::vector<participant> views(participants.begin(), participants.end());
    // Whatever order the participants come in.
    std::ranges::sort(views, {}, &participant::provider);
    label_set others = excluded;
    auto const add = [&](label_set const& labels) { others.insert(labels.begin(), labels.end()); };
    for (participant const& one : views) {
        add(one.last_run.agreed.labels);
        if (!has_own_spelling(one)) {
            add(one.values.labels);
            add(one.last_run.own.labels);
        }
    }
    for (participant& one : views) {
        if (has_own_spelling(one)) {
            one.values.labels = common(one.values.labels, others, *one.spelling);
            one.last_run.own.labels = common(one.last_run.own.labels, others, *one.spelling);
            add(one.values.labels);
        }
    }
    std::vector<participant> ordered;
    for (participant const& one : participants) {
        ordered.push_back(*std::ranges::find(views, one.provider, &participant::provider));
    }
    return ordered;
}

} // namespace statsync
