#include "core/failure.hpp"
#include "core/text.hpp"
#include "provider/registry.hpp"
#include "store/file.hpp"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include <sys/stat.h>

namespace statsync {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

[[noreturn]] void wrong(std::string const& text)
{
    throw failure(problem::settings, text);
}

setting_description const* description_of(provider_type const& type, std::string_view name)
{
    auto const found = std::ranges::find(type.settings, name, &setting_description::name);
    return found == type.settings.end() ? nullptr : &*found;
}

std::string names_of(provider_type const& type)
{
    std::string text = "name, write";
    for (setting_description const& one : type.settings) {
        text += ", " + one.name;
    }
    return text;
}

instance instance_from(json const& entry)
{
    instance read;
    for (auto const& [key, value] : entry.items()) {
        std::string const text = value.is_string() ? value.get<std::string>() : value.dump();
        if (key == "id") {
            read.id = text;
        } else if (key == "type") {
            read.type = text;
        } else if (key == "name") {
            read.name = text;
        } else {
            read.settings[key] = text;
        }
    }
    if (read.id.empty() || read.type.empty()) {
        wrong("a provider without id or type");
    }
    return read;
}

json json_of(instance const& configured)
{
    json entry = configured.settings;
    entry["id"] = configured.id;
    entry["type"] = configured.type;
    entry["name"] = configured.name;
    return entry;
}

} // namespace

provider_type const& type_named(std::span<provider_type const> types, std::string_view name)
{
    auto const found = std::ranges::find(types, name, &provider_type::name);
    if (found == types.end()) {
        std::string known;
        for (provider_type const& type : types) {
            known += " " + type.name;
        }
        wrong("no type is called '" + printable(name) + "'; there are:" + known);
    }
    return *found;
}

registry::registry(fs::path file, std::span<provider_type const> types)
    : file_(std::move(file)), types_(types)
{
    load();
}

instance const& registry::find(std::string_view id_or_name) const
{
    auto const same_id = std::ranges::find(instances_, id_or_name, &instance::id);
    if (same_id != instances_.end()) {
        return *same_id;
    }
    auto const same_name = std::ranges::find(instances_, id_or_name, &instance::name);
    if (same_name == instances_.end()) {
        wrong("no provider is called '" + printable(id_or_name) + "'");
    }
    if (std::ranges::count(instances_, id_or_name, &instance::name) > 1) {
        wrong("several providers are called '" + printable(id_or_name) + "'; give an id");
    }
    return *same_name;
}

instance const& registry::create(std::string_view type, std::string name, setting_map settings)
{
    provider_type const& made_type = type_named(types_, type);
    instance made{new_id(), made_type.name, std::move(name), std::move(settings)};
    if (made.name.empty()) {
        made.name = made_type.title;
    }
    check(made);
    instances_.push_back(std::move(made));
    store();
    return instances_.back();
}

instance const& registry::reconfigure(std::string_view id_or_name, setting_map const& changed)
{
    std::string const id = find(id_or_name).id;
    instance& old = *std::ranges::find(instances_, id, &instance::id);
    instance made = old;
    for (auto const& [key, value] : changed) {
        if (key == "id" || key == "type") {
            wrong("the " + key + " of a provider is permanent; add another provider");
        }
        if (key == "name") {
            made.name = value.empty() ? type_named(types_, made.type).title : value;
        } else if (value.empty()) {
            made.settings.erase(key);
        } else {
            made.settings[key] = value;
        }
    }
    check(made);
    old = std::move(made);
    store();
    return old;
}

void registry::forget(std::string_view id_or_name)
{
    std::string const id = find(id_or_name).id;
    std::erase_if(instances_, [&](instance const& one) { return one.id == id; });
    store();
}

std::unique_ptr<provider> registry::open(instance const& configured) const
{
    provider_type const& type = type_named(types_, configured.type);
    instance complete = configured;
    for (setting_description const& one : type.settings) {
        if (complete.setting(one.name).empty() && !one.usual.empty()) {
            complete.settings[one.name] = one.usual;
        }
    }
    return type.make(std::move(complete));
}

void registry::check(instance const& configured) const
{
    provider_type const& type = type_named(types_, configured.type);
    for (auto const& [key, value] : configured.settings) {
        if (key == "password") {
            wrong("a password is not stored here: give password-file or password-env");
        }
        if (key == "write" && value != "yes" && value != "no") {
            wrong("write is yes or no, not '" + printable(value) + "'");
        }
        if (key != "write" && description_of(type, key) == nullptr) {
            wrong(type.name + " has no setting '" + printable(key) + "'; it has " + names_of(type));
        }
    }
    for (setting_description const& one : type.settings) {
        if (one.is_required && configured.setting(one.name).empty()) {
            wrong(type.name + " needs the setting '" + one.name + "': " + one.meaning);
        }
    }
    open(configured);
}

std::string registry::new_id() const
{
    std::random_device random;
    for (;;) {
        std::string id;
        for (int digit = 0; digit < 6; ++digit) {
            id += "0123456789abcdef"[random() % 16];
        }
        if (std::ranges::find(instances_, id, &instance::id) == instances_.end()) {
            return id;
        }
    }
}

void registry::load()
{
    if (!fs::exists(file_)) {
        return;
    }
    std::string const text = read_file(file_);
    try {
        json const document = json::parse(text);
        for (json const& entry : document.at("providers")) {
            instances_.push_back(instance_from(entry));
        }
        document_ = document.dump();
    } catch (std::exception const& error) {
        wrong(
            file_.string() + " is no list of providers (" + error.what() +
            "); correct it, or move it away and add them again");
    }
}

void registry::store() const
{
    json document = json::parse(document_);
    document["providers"] = json::array();
    for (instance const& one : instances_) {
        document["providers"].push_back(json_of(one));
    }
    if (file_.has_parent_path()) {
        fs::create_directories(file_.parent_path());
    }
    // A name that is no UTF-8 would throw; the replacement character stands for it.
    std::string const text = document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
    replace_file(file_, text, 0600);
    ::chmod(file_.c_str(), 0600);
}

std::string secret(instance const& configured)
{
    if (std::string const file = configured.setting("password-file"); !file.empty()) {
        std::string const text = read_file(expanded(file));
        return text.substr(0, text.find_first_of("\r\n"));
    }
    std::string const variable = configured.setting("password-env");
    if (variable.empty()) {
        return {};
    }
    char const* const value = std::getenv(variable.c_str());
    if (value == nullptr) {
        wrong("the environment has no variable " + printable(variable) + " (password-env)");
    }
    return value;
}

} // namespace statsync
