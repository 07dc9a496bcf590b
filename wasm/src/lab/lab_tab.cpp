#include "lab_tab.hpp"

#include "lab_parts.hpp"

namespace tabacus::lab {

LabTab::LabTab(Origin& origin, TabId id, Platform platform)
    : origin_(origin),
      id_(id),
      platform_(platform),
      lock_manager_(origin.locks_.size() - 1),
      storage_(std::make_unique<LabStorage>(*this)),
      database_(std::make_unique<LabDatabase>(*this)),
      locks_(std::make_unique<LabLocks>(*this)),
      clock_(std::make_unique<LabClock>(*this)),
      random_(std::make_unique<LabRandom>(origin.random_.split())),
      lifecycle_(std::make_unique<LabLifecycle>(*this)) {}

LabTab::~LabTab() { die(); }

/// Destroys the program's frames. Calls that their destructors make have no effect, because no code
/// of a killed process runs.
void LabTab::die() {
    alive_ = false;
    program_.reset();
    microtasks_.clear();
}

/// All scripts have the same content. Their positions in the queue tell them apart.
void LabTab::post(Action script) { in_tab(Source::Kind::script, std::move(script), 0); }

void LabTab::in_tab(Source::Kind kind, Action event, std::uint64_t content, std::uint64_t peer) {
    origin_.recorder_.note(Object::alive, id_, AccessKind::read);
    if (alive_) origin_.scheduler_.post({kind, id_, peer}, std::move(event), content);
}

/// A dead tab's history does not count, because the tab does nothing more.
std::uint64_t LabTab::digest() const {
    if (!alive_) return lab::digest(id_);
    const auto flags = (frozen_ ? 1U : 0U) | (cached_ ? 2U : 0U) | (hidden_ ? 4U : 0U) |
                       (drops_messages_ ? 8U : 0U) | (platform_.prerendered ? 16U : 0U);
    return lab::digest(id_, flags + 1U, history_, std::bit_cast<std::uint64_t>(wall_offset_ms_)) +
           database_->digest();
}

bool LabTab::mid_turn() const { return origin_.scheduler_.has({Source::Kind::inside, id_, 0}); }

/// Performs a microtask checkpoint (HTML §8.1.7.3): runs microtasks, and those that they add, until
/// there are none.
void LabTab::run_microtasks() {
    while (!microtasks_.empty() && !mid_turn()) {
        auto microtask = std::move(microtasks_.front());
        microtasks_.erase(microtasks_.begin());
        if (--microtask.left > 0) {
            microtasks_.push_back(std::move(microtask));
        } else {
            microtask.done.complete({});
        }
    }
}

Storage& LabTab::storage() { return *storage_; }
Database& LabTab::database() { return *database_; }
Locks& LabTab::locks() { return *locks_; }
Clock& LabTab::clock() { return *clock_; }
Random& LabTab::random() { return *random_; }
Lifecycle& LabTab::lifecycle() { return *lifecycle_; }

std::unique_ptr<Channel> LabTab::channel(std::string_view name) {
    if (!platform_.channels) return nullptr;
    return std::make_unique<LabChannel>(*this, name);
}

std::unique_ptr<ValueChannel> LabTab::value_channel(std::string_view name) {
    if (!platform_.channels) return nullptr;
    return std::make_unique<LabValueChannel>(*this, name);
}

void LabTab::LabChannel::post(std::string_view message) {
    if (tab_.alive_) tab_.origin_.broadcast(tab_.id_, id_, name_, message);
}

Async<Unit> LabTab::LabClock::sleep(double delay_ms) {
    if (!tab_.alive_) return never<Unit>();
    Completer<Unit> completer;
    auto wake = [completer] { completer.complete({}); };
    auto& clock = tab_.origin_.clock_;
    if (tab_.hidden_) {
        clock.start_throttled(tab_.id_, delay_ms, std::move(wake));
    } else {
        clock.start(tab_.id_, delay_ms, std::move(wake));
    }
    return completer.async();
}

Async<Unit> LabTab::LabClock::after_microtasks(int count) {
    if (!tab_.alive_) return never<Unit>();
    // A call from outside the schedule, by a test, is a turn of its own. It ends here.
    if (!tab_.in_turn_ && !tab_.mid_turn()) tab_.in_tab(Source::Kind::inside, [] {}, 0);
    return tab_.microtasks_.emplace_back(Microtask{count, Completer<Unit>()}).done.async();
}

// --- localStorage -------------------------------------------------------------------------------

/// Performs an operation, which is part of the turn that calls it. In the model `interleaved`,
/// other tabs may run between two operations, so the operation is a step of its own. In the other
/// models it is performed at once.
template <typename T, typename Operation>
Async<T> LabTab::LabStorage::perform(Operation operation) {
    if (!tab_.alive_) return never<T>();
    Completer<T> completer;
    const auto finish = [completer, operation] {
        try {
            completer.complete(operation());
        } catch (...) {
            completer.fail(std::current_exception());
        }
    };
    if (tab_.origin_.storage_.model() == StorageModel::interleaved) {
        // The tab's history determines which operation it is.
        tab_.in_tab(Source::Kind::inside, finish, 0);
    } else {
        finish();
    }
    return completer.async();
}

Async<std::optional<std::string>> LabTab::LabStorage::get(std::string_view key) {
    return perform<std::optional<std::string>>([this, key = std::string(key)] {
        auto value = tab_.origin_.storage_.get(tab_.id_, key);
        tab_.origin_.recorder_.trace(tab_.id_, Object::item, [&] {
            return "reads " + key + ": " + value.value_or("nothing");
        });
        return value;
    });
}

Async<Unit> LabTab::LabStorage::set(std::string_view key, std::string_view value) {
    return perform<Unit>([this, key = std::string(key), value = std::string(value)] {
        tab_.origin_.write_storage(tab_, key, value);
        return Unit{};
    });
}

Async<Unit> LabTab::LabStorage::remove(std::string_view key) {
    return perform<Unit>([this, key = std::string(key)] {
        tab_.origin_.write_storage(tab_, key, std::nullopt);
        return Unit{};
    });
}

Async<std::vector<std::string>> LabTab::LabStorage::keys(std::string_view prefix) {
    return perform<std::vector<std::string>>([this, prefix = std::string(prefix)] {
        return tab_.origin_.storage_.keys(tab_.id_, prefix);
    });
}

}  // namespace tabacus::lab
