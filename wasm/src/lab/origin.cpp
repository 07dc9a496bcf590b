#include "origin.hpp"

#include <algorithm>
#include <stdexcept>

#include "lab_parts.hpp"
#include "lab_tab.hpp"

namespace tabacus::lab {
namespace {

constexpr std::size_t history_max = 512;

}  // namespace

std::size_t SeededChooser::choose(const std::vector<Source>& choices) {
    const auto index = random_.below(choices.size());
    // Time passes rarely while something else can happen: else every timeout would expire.
    const bool impatient = random_.below(patience) != 0;
    if (choices[index].kind != Source::Kind::clock || !impatient) return index;
    return random_.below(choices.size());
}

Origin::Origin(Options options, std::unique_ptr<Chooser> chooser)
    : random_(options.seed),
      chooser_(chooser ? std::move(chooser) : std::make_unique<SeededChooser>(random_.split())),
      storage_(options.storage, options.equal_writes),
      locks_(*this),
      database_([this](TransactionId id) {
          scheduler_.post({Source::Kind::transaction, transaction_owners_[id], id},
                          [this, id] { database_.execute(id); });
      }) {}

/// What a dying program lets go of must still be there.
Origin::~Origin() {
    for (const auto& tab : tabs_) tab->die();
}

LabTab& Origin::open_tab(Platform platform) {
    const auto id = static_cast<TabId>(tabs_.size() + 1);
    storage_.start(id);
    return *tabs_.emplace_back(std::make_unique<LabTab>(*this, id, platform));
}

// --- The schedule -------------------------------------------------------------------------------

bool Origin::may_run(const Source& source) {
    if (!runs_in_tab(source.kind)) return true;
    const auto& owner = tab(source.tab);
    if (!owner.active()) return false;
    return source.kind == Source::Kind::inside || !owner.mid_turn();
}

std::vector<Source> Origin::choices() {
    auto found = scheduler_.sources();
    std::erase_if(found, [this](const Source& source) { return !may_run(source); });
    if (clock_.waiting()) found.push_back({Source::Kind::clock, 0, 0});
    return found;
}

bool Origin::step() {
    const auto possible = choices();
    if (possible.empty()) return false;
    const auto& source = possible.at(chooser_->choose(possible));
    record(source);
    perform(source);
    return true;
}

void Origin::perform(const Source& source) {
    if (source.kind == Source::Kind::clock) {
        auto timer = clock_.take_next();
        tab(timer.tab).in_tab(Source::Kind::timer, std::move(timer.callback));
        return;
    }
    const auto event = scheduler_.take(source);
    if (!runs_in_tab(source.kind)) {
        event();
        return;
    }
    auto& runner = tab(source.tab);
    runner.in_turn_ = true;
    event();
    end_of_turn(runner);
}

void Origin::end_of_turn(LabTab& tab) {
    tab.run_microtasks();
    tab.in_turn_ = false;
    if (tab.alive_ && !tab.mid_turn()) tab.database_->check_end_of_turn();
}

/// Runs `script` as one turn of the tab, with all that it does inside.
void Origin::turn(LabTab& tab, const std::function<void()>& script) {
    const Source inside{Source::Kind::inside, tab.id_, 0};
    const auto finish = [&] {
        tab.run_microtasks();
        while (scheduler_.has(inside)) {
            scheduler_.take(inside)();
            tab.run_microtasks();
        }
    };
    tab.in_turn_ = true;
    finish();
    script();
    finish();
    end_of_turn(tab);
}

void Origin::run(std::size_t steps_max) {
    for (std::size_t taken = 0; step(); ++taken) {
        if (taken >= steps_max)
            throw std::logic_error("it never comes to rest:\n" + recent_steps(40));
    }
}

void Origin::run_until(const std::function<bool()>& done, std::size_t steps_max) {
    for (std::size_t taken = 0; !done(); ++taken) {
        if (taken >= steps_max) throw std::logic_error("it takes too long:\n" + recent_steps(40));
        if (!step()) throw std::logic_error("it hangs:\n" + recent_steps(40));
    }
}

void Origin::record(const Source& source) {
    ++steps_;
    const auto word = (source.peer << 16U) ^ (std::uint64_t{source.tab} << 8U) ^
                      static_cast<std::uint64_t>(source.kind);
    fingerprint_ = SeededRandom(fingerprint_ ^ word).bits();
    history_.push_back(source);
    if (history_.size() > history_max) history_.pop_front();
}

std::string Origin::recent_steps(std::size_t count) const {
    std::string text;
    const auto first = history_.size() - std::min(count, history_.size());
    for (auto i = first; i < history_.size(); ++i) text += describe(history_[i]) + "\n";
    return text;
}

// --- Faults -------------------------------------------------------------------------------------

void Origin::kill(LabTab& tab) {
    if (!tab.alive_) return;
    tab.die();
    // A commit that was asked for may still happen, but only what was asked for.
    tab.database_->abort_uncommitted();
    if (random_.coin()) tab.database_->decide_commits();
    scheduler_.drop(tab.id_);
    clock_.drop(tab.id_);
    channels_.end(tab.id_);
    const Source outgoing{Source::Kind::outgoing, tab.id_, 0};
    scheduler_.truncate(outgoing, random_.below(scheduler_.pending(outgoing) + 1));
    storage_.end(tab.id_);
    scheduler_.post({Source::Kind::request, tab.id_, 0}, [this, id = tab.id_] { locks_.end(id); });
}

void Origin::freeze(LabTab& tab) {
    turn(tab, [&] { tab.lifecycle_->tell(LifecycleEvent::frozen); });
    tab.frozen_ = true;
}

void Origin::thaw(LabTab& tab) {
    tab.frozen_ = false;
    turn(tab, [&] { tab.lifecycle_->tell(LifecycleEvent::resumed); });
}

/// Its transactions end: a browser aborts those that stand still while others wait (Chromium after
/// a minute).
void Origin::suspend(LabTab& tab) {
    tab.frozen_ = true;
    tab.database_->abort_uncommitted();
}

void Origin::wake(LabTab& tab) { tab.frozen_ = false; }

void Origin::deafen(LabTab& tab) { tab.deaf_ = true; }

void Origin::hide(LabTab& tab) {
    tab.hidden_ = true;
    turn(tab, [&] { tab.lifecycle_->tell(LifecycleEvent::hidden); });
}

void Origin::show(LabTab& tab) {
    tab.hidden_ = false;
    turn(tab, [&] { tab.lifecycle_->tell(LifecycleEvent::visible); });
}

bool Origin::page_hide(LabTab& tab) {
    turn(tab, [&] { tab.lifecycle_->tell(LifecycleEvent::page_hide); });
    tab.cached_ = true;
    // The tab's words to the lock manager are on their way before it is looked at.
    const Source requests{Source::Kind::request, tab.id_, 0};
    while (scheduler_.has(requests)) scheduler_.take(requests)();
    if (locks_.holds_any(tab.id_)) {
        kill(tab);
        return false;
    }
    tab.database_->abort_uncommitted();
    return true;
}

void Origin::page_show(LabTab& tab) {
    tab.cached_ = false;
    turn(tab, [&] { tab.lifecycle_->tell(LifecycleEvent::page_show); });
}

void Origin::close_connection(LabTab& tab) { tab.database_->drop_connection(); }

void Origin::lose_connections() {
    for (const auto& tab : tabs_) {
        if (tab->alive_) close_connection(*tab);
    }
}

void Origin::lose_database() {
    lose_connections();
    database_.lose();
}

void Origin::clear_site_data() {
    lose_database();
    storage_.wipe();
}

void Origin::crash() {
    for (const auto& tab : tabs_) {
        kill(*tab);
        locks_.end(tab->id_);
    }
    scheduler_ = {};
    database_.crash(random_);
    storage_.forget_latest(random_.below(storage_.unsettled() + 1));
}

void Origin::post_foreign(std::string_view channel, std::string_view message) {
    broadcast(0, 0, channel, message);
}

// --- What tabs do to what they share ------------------------------------------------------------

void Origin::write_storage(LabTab& writer, std::string_view key,
                           std::optional<std::string_view> value) {
    if (auto write = storage_.set(writer.id_, writer.id_, key, value)) pass_on(std::move(*write));
}

void Origin::clear_storage(LabTab& tab) { pass_on(storage_.clear(tab.id_, tab.id_)); }

void Origin::pass_on(StorageArea::Write write) {
    if (storage_.model() == StorageModel::cached) {
        const Source outgoing{Source::Kind::outgoing, write.process, 0};
        scheduler_.post(outgoing, [this, sent = std::move(write)] { send_write(sent); });
    } else {
        send_write(std::move(write));
    }
}

void Origin::send_write(StorageArea::Write write) {
    write = storage_.send(std::move(write));
    for (const auto process : storage_.processes()) {
        scheduler_.post({Source::Kind::incoming, process, 0},
                        [this, process, write] { receive_write(process, write); });
    }
}

/// HTML §12.2.1 "broadcast": the event goes to every other Storage object of the area, and to a
/// document that is not fully active once it is.
void Origin::receive_write(ProcessId process, const StorageArea::Write& write) {
    storage_.receive(process, write);
    if (process == write.writer || !write.changes) return;
    auto& hearer = tab(process);
    hearer.in_tab(Source::Kind::change,
                  [&hearer, change = write.change] { hearer.storage_->tell(change); });
}

/// HTML §9.5 postMessage(): a page in the back/forward cache is not eligible for messaging, and
/// never hears what was posted meanwhile; a frozen one hears it later.
void Origin::broadcast(TabId sender, ChannelHub::EndpointId endpoint, std::string_view name,
                       std::string_view message) {
    for (const auto& [receiver, id] : channels_.receivers(name, endpoint)) {
        if (tab(receiver).cached_ || tab(receiver).deaf_) continue;
        tab(receiver).in_tab(
            Source::Kind::message,
            [this, id = id, text = std::string(message)] { channels_.deliver(id, text); }, sender);
    }
}

void Origin::granted(RequestId id) {
    auto& owner = tab(request_owners_.at(id));
    owner.in_tab(Source::Kind::grant, [&owner, id] { owner.locks_->granted(id); });
}

void Origin::not_available(RequestId id) {
    auto& owner = tab(request_owners_.at(id));
    owner.in_tab(Source::Kind::grant, [&owner, id] { owner.locks_->not_available(id); });
}

void Origin::stolen(RequestId id) {
    auto& owner = tab(request_owners_.at(id));
    owner.in_tab(Source::Kind::grant, [&owner, id] { owner.locks_->stolen(id); });
}

}  // namespace tabacus::lab
