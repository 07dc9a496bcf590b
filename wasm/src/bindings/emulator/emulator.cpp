// The emulated origin for JavaScript, bound by embind. The build writes the types of the bindings
// to emulator.d.ts (cmake/wasm.cmake).
//
// The calls that tests make most often are plain exports, for js/emulator/rules.js. embind would
// add 110 ns to a write of 360 ns, as much to a read after a write, and 150 ns to a lock, which
// takes 1,600 ns.
//
// Texts are UTF-16 units as in JavaScript, lone surrogates included. The rules store them as WTF-8
// (https://simonsapin.github.io/wtf-8), which has the order of code points.
#include <emscripten/bind.h>
#include <emscripten/emscripten.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/emulator/emulated_origin.hpp"
#include "lab/report/matrix.hpp"
#include "lab/report/sequence_diagram.hpp"

namespace {

using namespace tabacus;
using namespace tabacus::lab;
using emscripten::val;

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

/// Appends the UTF-16 units of a text. Requires that bytes_of() made `bytes`.
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

std::u16string units_of(std::string_view bytes) {
    std::u16string units;
    append_units(units, bytes);
    return units;
}

using OptionalUnits = std::optional<std::u16string>;

OptionalUnits units_if(const std::optional<std::string>& bytes) {
    return bytes ? OptionalUnits(units_of(std::string_view(*bytes))) : std::nullopt;
}

// --- Values of the bindings

EMSCRIPTEN_DECLARE_VAL_TYPE(TextList);
EMSCRIPTEN_DECLARE_VAL_TYPE(LockList);
EMSCRIPTEN_DECLARE_VAL_TYPE(ChoiceList);
EMSCRIPTEN_DECLARE_VAL_TYPE(Memory);

struct Change {
    OptionalUnits key;
    OptionalUnits old_value;
    OptionalUnits new_value;
};

struct LockEntry {
    std::u16string name;
    LockMode mode = LockMode::exclusive;
    ContextId client = 0;
};

struct Snapshot {
    LockList held{val::array()};
    LockList pending{val::array()};
};

/// A write that has not reached a tab. The writer is empty if there is none.
struct UnseenWrite {
    std::u16string writer;
    bool clears = false;
    OptionalUnits value;
};

/// The addresses that JavaScript passes to the plain exports below, or reads their results from.
struct Addresses {
    std::uintptr_t origin = 0;
    std::uintptr_t version = 0;  // a 32-bit integer: EmulatedOrigin::version()
    std::uintptr_t report = 0;   // a Report
};

/// The part of an event that JavaScript reads from memory, at these offsets.
struct Report {
    double number = 0;          // 0
    double endpoint = 0;        // 8
    std::uint32_t context = 0;  // 16
    std::uint32_t from = 0;     // 20
    std::uint32_t area = 0;     // 24
};
Report& report() {
    static Report last;
    return last;
}

Change change_of(const EmulatedOrigin& origin) {
    const auto& change = origin.event().change;
    return {.key = units_if(change.key),
            .old_value = units_if(change.old_value),
            .new_value = units_if(change.new_value)};
}

LockList list_of(const std::vector<LockInfo>& infos) {
    std::vector<LockEntry> locks;
    for (const auto& info : infos)
        locks.push_back(
            {units_of(info.name), info.mode, static_cast<ContextId>(std::stoul(info.client_id))});
    return LockList(val::array(locks));
}

Snapshot snapshot_of(const EmulatedOrigin& origin) {
    const auto& locks = origin.event().locks;
    return {.held = list_of(locks.held), .pending = list_of(locks.pending)};
}

TextList keys_of(EmulatedOrigin& origin, ContextId context, AreaId area) {
    std::vector<std::u16string> keys;
    for (const auto& [key, value] : origin.values(context, area)) keys.push_back(units_of(key));
    return TextList(val::array(keys));
}

void overwrite(EmulatedOrigin& origin, const std::u16string& key, const OptionalUnits& value) {
    origin.overwrite(bytes_of(key), value ? std::optional(bytes_of(*value)) : std::nullopt);
}

void add_line(EmulatedOrigin& origin, ContextId context, Object subject, const std::u16string& text,
              const OptionalUnits& story) {
    const auto agent = context == 0 ? 0 : origin.agent_of(context);
    origin.trace().add(
        {agent, subject, bytes_of(text), story ? std::optional(bytes_of(*story)) : std::nullopt});
}

UnseenWrite unseen_write(const EmulatedOrigin& origin, ContextId context,
                         const std::u16string& key) {
    const auto unseen = origin.unseen_write(context, bytes_of(key));
    if (!unseen) return {};
    return {.writer = units_of(origin.trace().name_of(unseen->writer)),
            .clears = unseen->clears,
            .value = units_if(unseen->value)};
}

std::string hash_text(std::uint64_t hash) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[hash >> shift & 15U];
    return text;
}

// --- Texts of the plain exports
//
// JavaScript writes arguments, one after another, into emu_input(), and reads a result from
// emu_text().

std::u16string& input() {
    static std::u16string units;
    return units;
}
std::u16string& answer() {
    static std::u16string units;
    return units;
}

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE char16_t* emu_input(std::size_t units) {
    input().resize(units);
    return input().data();
}
EMSCRIPTEN_KEEPALIVE const char16_t* emu_text() { return answer().data(); }
EMSCRIPTEN_KEEPALIVE std::size_t emu_text_units() { return answer().size(); }

// The input is the key. Returns false if there is no such key.
EMSCRIPTEN_KEEPALIVE bool emu_get(EmulatedOrigin* origin, ContextId context, AreaId area) {
    const auto* const found = origin->find(context, area, bytes_of(input()));
    if (found == nullptr) return false;
    answer().clear();
    append_units(answer(), *found);
    return true;
}
// The input is the key, followed by the value. Returns false if the quota is exceeded.
EMSCRIPTEN_KEEPALIVE bool emu_set(EmulatedOrigin* origin, ContextId context, AreaId area,
                                  std::size_t key_units) {
    const std::u16string_view given = input();
    try {
        origin->set_item(context, area, bytes_of(given.substr(0, key_units)),
                         bytes_of(given.substr(key_units)));
        return true;
    } catch (const Error&) {
        return false;  // set_item() throws quota_exceeded only
    }
}
// The input is the lock's name.
EMSCRIPTEN_KEEPALIVE void emu_request(EmulatedOrigin* origin, ContextId context,
                                      std::uint32_t number, bool shared, bool if_available,
                                      bool steal) {
    origin->request_lock(context, number,
                         {.name = bytes_of(input()),
                          .mode = shared ? LockMode::shared : LockMode::exclusive,
                          .if_available = if_available,
                          .steal = steal});
}
EMSCRIPTEN_KEEPALIVE void emu_release(EmulatedOrigin* origin, ContextId context,
                                      std::uint32_t number) {
    origin->release_lock(context, number);
}
EMSCRIPTEN_KEEPALIVE OriginEvent::Kind emu_step(EmulatedOrigin* origin, bool may_wait) {
    const auto& event = origin->step(may_wait);
    report() = {event.number, event.endpoint, event.context, event.from, event.area};
    return event.kind;
}
}

EMSCRIPTEN_BINDINGS(tabacus_emulator) {
    using namespace emscripten;

    enum_<StorageModel> model("StorageModel", enum_value_type::string);
    for (std::size_t i = 0; i < storage_model_count; ++i) {
        const auto value = static_cast<StorageModel>(i);
        model.value(std::string(model_name(value)).c_str(), value);
    }
    enum_<EqualWrites>("EqualWrites", enum_value_type::string)
        .value("sent", EqualWrites::sent)
        .value("dropped", EqualWrites::dropped);
    enum_<LockMode>("LockMode", enum_value_type::string)
        .value("exclusive", LockMode::exclusive)
        .value("shared", LockMode::shared);
    // These are numbers, because emu_step() returns them.
    enum_<OriginEvent::Kind>("EventKind", enum_value_type::number)
        .value("nothing", OriginEvent::Kind::nothing)
        .value("unseen", OriginEvent::Kind::unseen)
        .value("changed", OriginEvent::Kind::changed)
        .value("granted", OriginEvent::Kind::granted)
        .value("unavailable", OriginEvent::Kind::unavailable)
        .value("stolen", OriginEvent::Kind::stolen)
        .value("released", OriginEvent::Kind::released)
        .value("snapshot", OriginEvent::Kind::snapshot)
        .value("message", OriginEvent::Kind::message)
        .value("timer", OriginEvent::Kind::timer)
        .value("task", OriginEvent::Kind::task)
        .value("fault", OriginEvent::Kind::fault);
    // The sources of a tab's tasks (HTML §8.1.7.1).
    enum_<Source::Kind>("TaskSource", enum_value_type::string)
        .value("script", Source::Kind::script)
        .value("timer", Source::Kind::timer)
        .value("database", Source::Kind::database)
        .value("host", Source::Kind::host)
        .value("message", Source::Kind::message);
    // The subject of a line of the trace.
    enum_<Object>("Subject", enum_value_type::string)
        .value("transaction", Object::transaction)
        .value("item", Object::item)
        .value("channel", Object::channel)
        .value("lock", Object::lock)
        .value("turn", Object::turn)
        .value("clock", Object::now)
        .value("host", Object::host)
        .value("faults", Object::faults);

    register_optional<std::size_t>();
    register_optional<std::u16string>();
    register_type<TextList>("string[]");
    register_type<ChoiceList>("number[]");
    register_type<LockList>("LockEntry[]");
    register_type<Memory>("ArrayBuffer");
    value_object<EmulatedOrigin::Options>("OriginOptions")
        .field("storage", &EmulatedOrigin::Options::storage)
        .field("equalWrites", &EmulatedOrigin::Options::equal_writes)
        .field("wakeAfterAbort", &EmulatedOrigin::Options::wake_after_abort);
    value_object<Change>("Change")
        .field("key", &Change::key)
        .field("oldValue", &Change::old_value)
        .field("newValue", &Change::new_value);
    value_object<LockEntry>("LockEntry")
        .field("name", &LockEntry::name)
        .field("mode", &LockEntry::mode)
        .field("client", &LockEntry::client);
    value_object<Snapshot>("Snapshot")
        .field("held", &Snapshot::held)
        .field("pending", &Snapshot::pending);
    value_object<UnseenWrite>("UnseenWrite")
        .field("writer", &UnseenWrite::writer)
        .field("clears", &UnseenWrite::clears)
        .field("value", &UnseenWrite::value);
    value_object<Addresses>("Addresses")
        .field("origin", &Addresses::origin)
        .field("version", &Addresses::version)
        .field("report", &Addresses::report);

    // JavaScript makes new views of this memory whenever it has grown.
    function(
        "memory", +[] {
            return Memory(val(typed_memory_view(
                sizeof(Report), reinterpret_cast<const char*>(&report())))["buffer"]);
        });

    class_<ScheduleSearch>("ScheduleSearch")
        .constructor<std::uint32_t, bool>()
        .function("begin", &ScheduleSearch::begin)
        .property("planned", &ScheduleSearch::planned_runs)
        .property("diverged", &ScheduleSearch::differs)
        .property("cut", &ScheduleSearch::cut)
        .property("exhausted", &ScheduleSearch::ran_all);

    class_<EmulatedOrigin>("EmulatedOrigin")
        .constructor<EmulatedOrigin::Options>()
        .function(
            "addresses",
            +[](const EmulatedOrigin& origin) {
                return Addresses{.origin = reinterpret_cast<std::uintptr_t>(&origin),
                                 .version = reinterpret_cast<std::uintptr_t>(&origin.version()),
                                 .report = reinterpret_cast<std::uintptr_t>(&report())};
            })
        // Processes, agents, contexts
        .function("openProcess", &EmulatedOrigin::open_process)
        .function("openAgent(process)", &EmulatedOrigin::open_agent)
        .function("openContext(agent, session)", &EmulatedOrigin::open_context)
        .function("openSession(copied)", &EmulatedOrigin::open_session)
        .function("closeContext(context)", &EmulatedOrigin::close_context)
        .function("kill(agent, writesKept)", &EmulatedOrigin::kill)
        .function("orphanLocks(agent)", &EmulatedOrigin::orphan_locks)
        .function("writesUnderWay(agent)", &EmulatedOrigin::writes_under_way)
        .function("setActive(agent, active)", &EmulatedOrigin::set_active)
        .function("setCached(agent, cached)", &EmulatedOrigin::set_cached)
        // Storage
        .function(
            "removeItem(context, area, key)",
            +[](EmulatedOrigin& origin, ContextId context, AreaId area, const std::u16string& key) {
                origin.set_item(context, area, bytes_of(key), std::nullopt);
            })
        .function("clear(context, area)", &EmulatedOrigin::clear)
        .function("keys(context, area)", &keys_of)
        .function("setQuota(bytes)", &EmulatedOrigin::set_quota)
        .function("wipe", &EmulatedOrigin::wipe)
        .function("overwrite(key, value)", &overwrite)
        // Locks
        .function("abortLock(context, number)", &EmulatedOrigin::abort_lock)
        .function("queryLocks(context, number)", &EmulatedOrigin::query_locks)
        // Channels, time, tasks
        .function(
            "openChannel(context, name)",
            +[](EmulatedOrigin& origin, ContextId context, const std::u16string& name) {
                return static_cast<double>(origin.open_channel(context, bytes_of(name)));
            })
        .function(
            "closeChannel(endpoint)",
            +[](EmulatedOrigin& origin, double endpoint) {
                origin.close_channel(static_cast<ChannelHub::EndpointId>(endpoint));
            })
        // Returns the number of channels that will receive the message.
        .function(
            "post(context, endpoint, message)",
            +[](EmulatedOrigin& origin, ContextId context, double endpoint, double message) {
                return origin.post(context, static_cast<ChannelHub::EndpointId>(endpoint), message);
            })
        .function(
            "startTimer(context, delay_ms, set_ms)",
            +[](EmulatedOrigin& origin, ContextId context, double delay_ms, double set_ms) {
                return static_cast<double>(origin.start_timer(context, {delay_ms, set_ms}));
            })
        .function(
            "cancelTimer(timer)",
            +[](EmulatedOrigin& origin, double timer) {
                origin.cancel_timer(static_cast<std::uint64_t>(timer));
            })
        .function("now_ms", &EmulatedOrigin::now_ms)
        .function("jump(delta_ms)", &EmulatedOrigin::jump)
        .function(
            "postTask(context, source, peer, number)",
            +[](EmulatedOrigin& origin, ContextId context, Source::Kind source, std::uint32_t peer,
                double number) { origin.post_task(context, source, peer, number); })
        // The schedule
        .function("setTimerWindow(window_ms)", &EmulatedOrigin::set_timer_window)
        .function("runDefaultSchedule", &EmulatedOrigin::run_default_schedule)
        .function(
            "runBySeed(seed, faultsMax, length, explored)",
            +[](EmulatedOrigin& origin, double seed, std::uint32_t faults_max, std::uint32_t length,
                bool explored) {
                origin.run_by_seed(static_cast<std::uint64_t>(seed),
                                   {.faults_max = faults_max, .length = length}, explored);
            })
        .function(
            "runBy(schedule)",
            +[](EmulatedOrigin& origin, const ChoiceList& schedule) {
                origin.run_by(convertJSArrayToNumberVector<Schedule::value_type>(schedule));
            })
        .function("offerFaults(count)", &EmulatedOrigin::offer_faults)
        .function("runBySearch(search)", &EmulatedOrigin::run_by_search)
        .function("endSearch", &EmulatedOrigin::end_search)
        .function("givenUp", &EmulatedOrigin::given_up)
        .function("noteEverything", &EmulatedOrigin::note_everything)
        .function("noteMemory(context)", &EmulatedOrigin::note_memory)
        .function("noteListener(context)", &EmulatedOrigin::note_listener)
        .function("noteMayWait", &EmulatedOrigin::note_may_wait)
        .function("setBeside(beside)", &EmulatedOrigin::set_beside)
        // The event of the last step: the change of a storage event, and the answer to queryLocks
        .function("change", &change_of)
        .function("snapshot", &snapshot_of)
        .function(
            "taken",
            +[](const EmulatedOrigin& origin) { return ChoiceList(val::array(origin.taken())); })
        .function(
            "hash", +[](const EmulatedOrigin& origin) { return hash_text(origin.hash()); })
        // Traces
        .function(
            "setTracing(on)", +[](EmulatedOrigin& origin, bool on) { origin.trace().set(on); })
        // Context 0 is the browser. The story is that of TraceLine.
        .function("addLine(context, subject, text, story)", &add_line)
        .function(
            "setPlace(place)",
            +[](EmulatedOrigin& origin, const std::u16string& place) {
                origin.trace().set_place(bytes_of(place));
            })
        .function(
            "nameAgent(agent, name)",
            +[](EmulatedOrigin& origin, TabId agent, const std::u16string& name) {
                origin.trace().name(agent, bytes_of(name));
            })
        .function("unseenWrite(context, key)", &unseen_write)
        .function("traceWaitingRequests", &EmulatedOrigin::trace_waiting_requests)
        .function(
            "traceText(failure)",
            +[](EmulatedOrigin& origin, const std::u16string& failure) {
                return units_of(trace_text(origin.trace().trace(bytes_of(failure))));
            })
        .function(
            "storyText(failure)",
            +[](EmulatedOrigin& origin, const std::u16string& failure) {
                return units_of(story_text(origin.trace().trace(bytes_of(failure))));
            })
        .function(
            "sequenceDiagram(failure, title)",
            +[](EmulatedOrigin& origin, const std::u16string& failure,
                const std::u16string& title) {
                return units_of(
                    sequence_diagram(origin.trace().trace(bytes_of(failure)), bytes_of(title)));
            });
}
