#include "request_text.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "matrix.hpp"
#include "tabacus/common/error.hpp"

namespace tabacus::lab {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view value) {
    throw Error(ErrorCode::invalid_argument,
                std::string(name) + " cannot be \"" + std::string(value) + "\"");
}

/// Calls `use` for what is before, between and after the separators.
template <typename Use>
void split(std::string_view text, char separator, Use use) {
    while (!text.empty()) {
        const auto end = std::min(text.find(separator), text.size());
        use(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

template <typename Number>
void read(std::string_view name, std::string_view value, Number& number) {
    const auto* const end = value.data() + value.size();
    const auto result = std::from_chars(value.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end) refuse(name, value);
}

Faults faults_named(std::string_view names) {
    Faults faults;
    split(names, ',', [&](std::string_view name) {
        const auto fault = fault_named(name);
        if (!fault) refuse("faults", name);
        faults.insert(*fault);
    });
    return faults;
}

void read_line(ExploreRequest& request, std::string_view name, std::string_view value) {
    auto& setup = request.setup;
    if (name == "strategy") {
        setup.strategy = value;
    } else if (name == "model") {
        const auto model = model_named(value);
        if (!model) refuse(name, value);
        setup.model = *model;
    } else if (name == "tabs") {
        read(name, value, setup.counting.tabs);
    } else if (name == "adds") {
        read(name, value, setup.counting.adds);
    } else if (name == "faults") {
        setup.faults = faults_named(value);
    } else if (name == "fault-budget") {
        read(name, value, setup.faults_max);
    } else if (name == "preemptions") {
        read(name, value, request.preemptions_max);
    } else if (name == "seeds") {
        read(name, value, request.seeds);
    } else if (name == "first-seed") {
        read(name, value, request.first_seed);
    } else if (name == "schedules") {
        read(name, value, request.schedules_max);
    } else if (name == "work") {
        read(name, value, request.work_max);
    } else {
        refuse("a request's line", name);
    }
}

}  // namespace

ExploreRequest parse_request(std::string_view text) {
    ExploreRequest request;
    request.setup.model = StorageModel::cached;
    split(text, '\n', [&](std::string_view line) {
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) refuse("a request's line", line);
        read_line(request, line.substr(0, equals), line.substr(equals + 1));
    });
    return request;
}

}  // namespace tabacus::lab
