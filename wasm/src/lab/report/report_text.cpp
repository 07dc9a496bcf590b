#include "report_text.hpp"

#include <array>
#include <cstdio>

namespace tabacus::lab {
namespace {

/// Writes one JSON object, member by member.
class Json {
  public:
    Json& text(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }
    Json& number(std::string_view name, std::uint64_t value) {
        return raw(name, std::to_string(value));
    }
    Json& flag(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
    Json& raw(std::string_view name, std::string_view value) {
        if (text_.size() > 1) text_ += ',';
        text_ += quoted(name);
        text_ += ':';
        text_ += value;
        return *this;
    }
    [[nodiscard]] std::string end() { return text_ + "}"; }

    static std::string quoted(std::string_view text) {
        std::string quoted = "\"";
        for (const char c : text) {
            if (c == '"' || c == '\\') {
                quoted += '\\';
                quoted += c;
            } else if (static_cast<unsigned char>(c) < 0x20) {
                std::array<char, 8> escape{};
                std::snprintf(escape.data(), escape.size(), "\\u%04x",
                              static_cast<unsigned>(static_cast<unsigned char>(c)));
                quoted += escape.data();
            } else {
                quoted += c;
            }
        }
        return quoted + '"';
    }

  private:
    std::string text_ = "{";
};

Json summary_of(const ExploreReport& report) {
    Json object;
    object.text("verdict", verdict_name(report.verdict))
        .number("schedules", report.schedules)
        .number("steps", report.steps)
        .raw("seconds", std::to_string(report.seconds))
        .flag("exhausted", report.exhausted)
        .text("bound", report.bound)
        .text("failure", report.failure)
        .text("seed", report.seed);
    return object;
}

/// Returns the setup as the request of js/lab/request.js.
std::string json_of(const CountingSetup& setup) {
    std::string faults;
    for (std::size_t i = 0; i < fault_count; ++i) {
        const auto fault = static_cast<Fault>(i);
        if (!setup.faults.contains(fault)) continue;
        if (!faults.empty()) faults += ',';
        faults += Json::quoted(fault_name(fault));
    }
    return Json()
        .text("strategy", setup.strategy)
        .text("model", model_name(setup.model))
        .number("tabs", setup.counting.tabs)
        .number("adds", setup.counting.adds)
        .raw("faults", "[" + faults + "]")
        .number("faultBudget", setup.faults_max)
        .end();
}

std::string_view declared(const CellReport& report) {
    if (report.may_lose) return report.may_exceed ? "may lose, may exceed" : "may lose";
    return report.may_exceed ? "may exceed" : "never";
}

}  // namespace

std::string json_of(const ExploreReport& report) {
    Json faults;
    for (std::size_t i = 0; i < fault_count; ++i) {
        faults.number(fault_name(static_cast<Fault>(i)), report.faults.at(i));
    }
    auto object = summary_of(report);
    object.raw("request", json_of(report.setup)).raw("faults", faults.end());
    if (!report.trace.empty()) object.text("trace", report.trace).text("svg", report.svg);
    return object.end();
}

std::string json_of(const CellReport& report) {
    std::string parts = "[";
    for (const auto& part : report.parts) {
        const auto& counting = part.setup.counting;
        auto object = summary_of(part.report);
        object.number("tabs", counting.tabs)
            .number("adds", counting.adds)
            .number("faults", part.setup.faults_max)
            .text("sought", counting.may_lose ? "a value too large" : "any");
        if (parts.size() > 1) parts += ',';
        parts += object.end();
    }
    return Json()
        .text("strategy", report.cell.strategy)
        .text("model", model_name(report.cell.model))
        .text("fault", fault_name_of(report.cell))
        .flag("explored", report.explored)
        .text("declared", declared(report))
        .text("verdict", report.explored ? verdict_name(report.verdict()) : "not explored")
        .flag("contradicts", report.contradicts())
        .flag("unfound", report.unfound())
        .raw("parts", parts + "]")
        .end();
}

}  // namespace tabacus::lab
