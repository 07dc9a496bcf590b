// The names under which JavaScript finds the emulator's rules (js/emulator/rules.js).
//
// Texts are UTF-16 units as JavaScript has them, lone surrogates included: what is passed in is
// written to emu_input() before the call, one text after the other; what is handed out lies at
// emu_text(), of emu_text_units() units, good until the next call. The rules keep them as WTF-8
// (https://simonsapin.github.io/wtf-8), of which the order is that of code points.
#include <emscripten/emscripten.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lab/emulator/emulated_origin.hpp"
#include "lab/report/sequence_diagram.hpp"

namespace {

using namespace tabacus;
using namespace tabacus::lab;

std::u16string& input() {
    static std::u16string units;
    return units;
}
std::u16string& answer() {
    static std::u16string units;
    return units;
}

constexpr bool leads(char32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
constexpr bool trails(char32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

void append_point(std::string& bytes, char32_t point) {
    const auto add = [&](char32_t byte) { bytes += static_cast<char>(byte); };
    if (point < 0x80) return add(point);
    if (point < 0x800) {
        add(0xc0 | point >> 6U);
    } else if (point < 0x10000) {
        add(0xe0 | point >> 12U);
        add(0x80 | (point >> 6U & 0x3fU));
    } else {
        add(0xf0 | point >> 18U);
        add(0x80 | (point >> 12U & 0x3fU));
        add(0x80 | (point >> 6U & 0x3fU));
    }
    add(0x80 | (point & 0x3fU));
}

std::string bytes_of(std::u16string_view units) {
    const auto beyond =
        std::find_if(units.begin(), units.end(), [](auto unit) { return unit >= 0x80; });
    std::string bytes(units.begin(), beyond);
    for (auto i = bytes.size(); i < units.size(); ++i) {
        char32_t point = units[i];
        if (leads(point) && i + 1 < units.size() && trails(units[i + 1])) {
            point = 0x10000 + ((point - 0xd800) << 10U) + (units[++i] - 0xdc00U);
        }
        append_point(bytes, point);
    }
    return bytes;
}

/// Of bytes that bytes_of() made.
void append_units(std::u16string& units, std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size();) {
        const auto at = [&](std::size_t offset) -> char32_t {
            return static_cast<unsigned char>(bytes[i + offset]);
        };
        const char32_t first = at(0);
        if (first < 0x80) {
            units += static_cast<char16_t>(first);
            ++i;
        } else if (first < 0xe0) {
            units += static_cast<char16_t>((first & 0x1fU) << 6U | (at(1) & 0x3fU));
            i += 2;
        } else if (first < 0xf0) {
            units += static_cast<char16_t>((first & 0xfU) << 12U | (at(1) & 0x3fU) << 6U |
                                           (at(2) & 0x3fU));
            i += 3;
        } else {
            const char32_t point = ((first & 0x7U) << 18U | (at(1) & 0x3fU) << 12U |
                                    (at(2) & 0x3fU) << 6U | (at(3) & 0x3fU)) -
                                   0x10000;
            units += static_cast<char16_t>(0xd800 + (point >> 10U));
            units += static_cast<char16_t>(0xdc00 + (point & 0x3ffU));
            i += 4;
        }
    }
}

void answer_with(std::string_view bytes) {
    answer().clear();
    append_units(answer(), bytes);
}

/// Length first, in two units; or −1 for nothing.
void append_text(std::optional<std::string_view> text) {
    auto& units = answer();
    const auto at = units.size();
    units.append(2, u'\xffff');
    if (!text) return;
    append_units(units, *text);
    const auto length = units.size() - at - 2;
    units[at] = static_cast<char16_t>(length & 0xffffU);
    units[at + 1] = static_cast<char16_t>(length >> 16U);
}

std::string input_text() { return bytes_of(input()); }

/// What JavaScript reads of an event, at a fixed address.
struct Report {
    double number = 0;
    double endpoint = 0;
    std::uint32_t context = 0;
    std::uint32_t from = 0;
    std::uint32_t area = 0;
};
Report& report() {
    static Report last;
    return last;
}

void append_infos(const std::vector<LockInfo>& infos) {
    for (const auto& info : infos) {
        append_text(info.name);
        append_text(info.mode == LockMode::shared ? "shared" : "exclusive");
        append_text(info.client_id);
    }
}

void answer_with(const OriginEvent& event) {
    answer().clear();
    if (event.kind == OriginEvent::Kind::changed) {
        append_text(event.change.key);
        append_text(event.change.old_value);
        append_text(event.change.new_value);
    } else if (event.kind == OriginEvent::Kind::snapshot) {
        append_text(std::to_string(event.locks.held.size()));
        append_infos(event.locks.held);
        append_infos(event.locks.pending);
    }
}

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE char16_t* emu_input(std::size_t units) {
    input().resize(units);
    return input().data();
}
EMSCRIPTEN_KEEPALIVE const char16_t* emu_text() { return answer().data(); }
EMSCRIPTEN_KEEPALIVE std::size_t emu_text_units() { return answer().size(); }

EMSCRIPTEN_KEEPALIVE EmulatedOrigin* emu_new(std::uint32_t model, bool drops_equal, bool wakes) {
    return std::make_unique<EmulatedOrigin>(
               EmulatedOrigin::Options{
                   .storage = static_cast<StorageModel>(model),
                   .equal_writes = drops_equal ? EqualWrites::dropped : EqualWrites::sent,
                   .wake_after_abort = wakes})
        .release();
}
EMSCRIPTEN_KEEPALIVE void emu_delete(EmulatedOrigin* origin) {
    const std::unique_ptr<EmulatedOrigin> owned(origin);
}
EMSCRIPTEN_KEEPALIVE const std::uint32_t* emu_version(const EmulatedOrigin* origin) {
    return &origin->version();
}
EMSCRIPTEN_KEEPALIVE const Report* emu_report() { return &report(); }

EMSCRIPTEN_KEEPALIVE ProcessId emu_process(EmulatedOrigin* origin) {
    return origin->open_process();
}
EMSCRIPTEN_KEEPALIVE TabId emu_agent(EmulatedOrigin* origin, ProcessId process) {
    return origin->open_agent(process);
}
EMSCRIPTEN_KEEPALIVE ContextId emu_context(EmulatedOrigin* origin, TabId agent, AreaId session) {
    return origin->open_context(agent, session);
}
EMSCRIPTEN_KEEPALIVE AreaId emu_session(EmulatedOrigin* origin, AreaId copied) {
    return origin->open_session(copied);
}
EMSCRIPTEN_KEEPALIVE void emu_close_context(EmulatedOrigin* origin, ContextId context) {
    origin->close_context(context);
}
EMSCRIPTEN_KEEPALIVE void emu_kill(EmulatedOrigin* origin, TabId agent, std::uint32_t kept) {
    origin->kill(agent, kept);
}
EMSCRIPTEN_KEEPALIVE std::uint32_t emu_under_way(const EmulatedOrigin* origin, TabId agent) {
    return static_cast<std::uint32_t>(origin->writes_under_way(agent));
}
EMSCRIPTEN_KEEPALIVE void emu_active(EmulatedOrigin* origin, TabId agent, bool active) {
    origin->set_active(agent, active);
}
EMSCRIPTEN_KEEPALIVE bool emu_cached(EmulatedOrigin* origin, TabId agent, bool cached) {
    return origin->set_cached(agent, cached);
}

// --- Storage: the input is the key, and then the value.
EMSCRIPTEN_KEEPALIVE bool emu_get(const EmulatedOrigin* origin, ContextId context, AreaId area) {
    const auto& values = origin->values(context, area);
    const auto found = values.find(input_text());
    if (found == values.end()) return false;
    answer_with(found->second);
    return true;
}
EMSCRIPTEN_KEEPALIVE bool emu_set(EmulatedOrigin* origin, ContextId context, AreaId area,
                                  std::size_t key_units) {
    const std::u16string_view given = input();
    try {
        origin->set_item(context, area, bytes_of(given.substr(0, key_units)),
                         bytes_of(given.substr(key_units)));
        return true;
    } catch (const Error&) {
        return false;  // quota_exceeded: it throws nothing else
    }
}
EMSCRIPTEN_KEEPALIVE void emu_remove(EmulatedOrigin* origin, ContextId context, AreaId area) {
    origin->set_item(context, area, input_text(), std::nullopt);
}
EMSCRIPTEN_KEEPALIVE void emu_clear(EmulatedOrigin* origin, ContextId context, AreaId area) {
    origin->clear(context, area);
}
EMSCRIPTEN_KEEPALIVE std::uint32_t emu_keys(const EmulatedOrigin* origin, ContextId context,
                                            AreaId area) {
    const auto& values = origin->values(context, area);
    answer().clear();
    for (const auto& [key, value] : values) append_text(key);
    return static_cast<std::uint32_t>(values.size());
}
EMSCRIPTEN_KEEPALIVE void emu_quota(EmulatedOrigin* origin, double bytes) {
    origin->set_quota(bytes < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(bytes)));
}
EMSCRIPTEN_KEEPALIVE void emu_wipe(EmulatedOrigin* origin) { origin->wipe(); }
EMSCRIPTEN_KEEPALIVE void emu_overwrite(EmulatedOrigin* origin, std::size_t key_units,
                                        bool removed) {
    const std::u16string_view given = input();
    auto value = removed ? std::nullopt : std::optional(bytes_of(given.substr(key_units)));
    origin->overwrite(bytes_of(given.substr(0, key_units)), std::move(value));
}

// --- Locks
EMSCRIPTEN_KEEPALIVE void emu_request(EmulatedOrigin* origin, ContextId context,
                                      std::uint32_t number, bool shared, bool if_available,
                                      bool steal) {
    origin->request_lock(context, number,
                         {.name = input_text(),
                          .mode = shared ? LockMode::shared : LockMode::exclusive,
                          .if_available = if_available,
                          .steal = steal});
}
EMSCRIPTEN_KEEPALIVE void emu_release(EmulatedOrigin* origin, ContextId context,
                                      std::uint32_t number) {
    origin->release_lock(context, number);
}
EMSCRIPTEN_KEEPALIVE void emu_abort(EmulatedOrigin* origin, ContextId context,
                                    std::uint32_t number) {
    origin->abort_lock(context, number);
}
EMSCRIPTEN_KEEPALIVE void emu_query(EmulatedOrigin* origin, ContextId context,
                                    std::uint32_t number) {
    origin->query_locks(context, number);
}

// --- Channels, time, tasks
EMSCRIPTEN_KEEPALIVE double emu_channel(EmulatedOrigin* origin, ContextId context) {
    return static_cast<double>(origin->open_channel(context, input_text()));
}
EMSCRIPTEN_KEEPALIVE void emu_close_channel(EmulatedOrigin* origin, double endpoint) {
    origin->close_channel(static_cast<ChannelHub::EndpointId>(endpoint));
}
EMSCRIPTEN_KEEPALIVE std::uint32_t emu_post(EmulatedOrigin* origin, ContextId context,
                                            double endpoint, double message) {
    return static_cast<std::uint32_t>(
        origin->post(context, static_cast<ChannelHub::EndpointId>(endpoint), message));
}
EMSCRIPTEN_KEEPALIVE double emu_timer(EmulatedOrigin* origin, ContextId context, double delay_ms,
                                      bool throttled) {
    return static_cast<double>(origin->start_timer(context, delay_ms, throttled));
}
EMSCRIPTEN_KEEPALIVE void emu_cancel(EmulatedOrigin* origin, double timer) {
    origin->cancel_timer(static_cast<std::uint64_t>(timer));
}
EMSCRIPTEN_KEEPALIVE double emu_now(const EmulatedOrigin* origin) { return origin->now_ms(); }
EMSCRIPTEN_KEEPALIVE void emu_jump(EmulatedOrigin* origin, double delta_ms) {
    origin->jump(delta_ms);
}
EMSCRIPTEN_KEEPALIVE void emu_task(EmulatedOrigin* origin, ContextId context, std::uint32_t kind,
                                   std::uint32_t peer, double number) {
    origin->post_task(context, static_cast<Source::Kind>(kind), peer, number);
}

// --- The schedule
EMSCRIPTEN_KEEPALIVE void emu_by_default(EmulatedOrigin* origin) { origin->run_default_schedule(); }
EMSCRIPTEN_KEEPALIVE void emu_by_seed(EmulatedOrigin* origin, double seed, std::uint32_t faults_max,
                                      std::uint32_t length, bool explored) {
    origin->run_by_seed(static_cast<std::uint64_t>(seed),
                        {.faults_max = faults_max, .length = length}, explored);
}
/// The input: an entry of the schedule in each unit.
EMSCRIPTEN_KEEPALIVE void emu_by_schedule(EmulatedOrigin* origin) {
    origin->run_by(Schedule(input().begin(), input().end()));
}
EMSCRIPTEN_KEEPALIVE void emu_offer_faults(EmulatedOrigin* origin, std::uint32_t count) {
    origin->offer_faults(count);
}
EMSCRIPTEN_KEEPALIVE std::uint32_t emu_step(EmulatedOrigin* origin, bool may_wait) {
    const auto& event = origin->step(may_wait);
    report() = {event.number, event.endpoint, event.context, event.from, event.area};
    answer_with(event);
    return static_cast<std::uint32_t>(event.kind);
}
EMSCRIPTEN_KEEPALIVE void emu_taken(const EmulatedOrigin* origin) {
    answer().clear();
    for (const auto index : origin->taken()) answer() += static_cast<char16_t>(index);
}
EMSCRIPTEN_KEEPALIVE void emu_hash(const EmulatedOrigin* origin) {
    constexpr const char* digits = "0123456789abcdef";
    answer().clear();
    for (int shift = 60; shift >= 0; shift -= 4) {
        answer() += static_cast<char16_t>(digits[origin->hash() >> shift & 15U]);
    }
}

// --- For people
EMSCRIPTEN_KEEPALIVE void emu_tracing(EmulatedOrigin* origin, bool on) { origin->set_tracing(on); }
EMSCRIPTEN_KEEPALIVE void emu_note(EmulatedOrigin* origin, ContextId context, std::uint32_t where) {
    origin->add_line(context == 0 ? 0 : origin->agent_of(context), static_cast<Object>(where),
                     input_text());
}
/// The input: the failure.
EMSCRIPTEN_KEEPALIVE void emu_trace(EmulatedOrigin* origin) {
    answer_with(trace_text(origin->trace(input_text())));
}
/// The input: the failure, and then the title.
EMSCRIPTEN_KEEPALIVE void emu_svg(EmulatedOrigin* origin, std::size_t failure_units) {
    const std::u16string_view given = input();
    answer_with(sequence_diagram(origin->trace(bytes_of(given.substr(0, failure_units))),
                                 bytes_of(given.substr(failure_units))));
}
}
