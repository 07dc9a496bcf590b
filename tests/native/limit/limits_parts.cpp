// The parts of a budget and of a rate limit, each on its own: Burst, Holding, Recall and RateClock.
#include <optional>
#include <set>
#include <string>

#include "empty_transaction.hpp"
#include "limits_scene.hpp"
#include "protocol/common/names.hpp"
#include "protocol/limit/limit_record.hpp"
#include "protocol/limit/limit_store.hpp"

namespace tabacus::test {
namespace {

/// A transaction that keeps what is written to one row.
class RowTransaction final : public EmptyTransaction {
  public:
    Async<std::optional<Row>> get(Store /*store*/, std::string_view key) override {
        return value ? std::optional(Row{std::string(key), *value, false}) : std::nullopt;
    }
    void put(Store /*store*/, std::string_view /*key*/, std::string_view text) override {
        value = std::string(text);
    }
    void remove(Store /*store*/, std::string_view /*key*/) override { value.reset(); }

    [[nodiscard]] std::optional<Row> row() const {
        return value ? std::optional(Row{"budget/b/a", *value, false}) : std::nullopt;
    }
    [[nodiscard]] std::optional<HoldingRow> holding() const {
        return value ? parse_holding(*value) : std::nullopt;
    }
    std::optional<std::string> value;
};

/// A Holding with `rights` rights and its row.
Holding holding_of(RowTransaction& rows, std::int64_t rights) {
    Holding holding("budget/b/a");
    holding.committed(holding.add(rows, rights));
    return holding;
}

class ManualClock final : public Clock {
  public:
    [[nodiscard]] double now_ms() const override { return at_ms; }
    [[nodiscard]] double monotonic_ms() const override { return at_ms; }
    Async<Unit> sleep(double /*delay_ms*/) override { return Unit{}; }
    Async<Unit> after_microtasks(int /*count*/) override { return Unit{}; }
    double at_ms = 0;
};

/// A tab that recalls rights, and counts the messages that ask for them.
class RecallPage {
  public:
    explicit RecallPage(LabTab& world)
        : names_("test"),
          store_(world, names_, [](const Notice& /*notice*/) {}),
          owner_{world,
                 store_,
                 tab_,
                 []() -> Task<void> { co_return; },
                 [this]() -> Task<std::optional<std::set<std::string>>> { co_return live; },
                 [this](bool is_recall, std::int64_t /*used*/) { asked += is_recall ? 1 : 0; }},
          recall(owner_, key_) {}

    void ask(std::set<std::string> holders) {
        scope_.spawn([](RecallPage& self, std::set<std::string> tabs) -> Task<void> {
            co_await self.recall.ask(std::move(tabs));
            ++self.returned;
        }(*this, std::move(holders)));
    }

    std::optional<std::set<std::string>> live;  // the tabs that hold a liveness lock
    int asked = 0;
    int returned = 0;

  private:
    Names names_;
    LimitStore store_;
    std::string tab_ = "a";
    std::string key_ = "budget/b";
    BudgetOwner owner_;

  public:
    Recall recall;

  private:
    Scope scope_;  // declared last: its coroutines use all members above
};

}  // namespace

TEST_CASE("limits: a burst takes nothing in advance before its calls number exact_takes") {
    Burst burst;
    for (int i = 1; i < Burst::exact_takes; ++i) {
        burst.add(8);
        CHECK(burst.window(10'000) == 0);
    }
    burst.add(8);
    CHECK(burst.calls() == Burst::exact_takes);
    CHECK(burst.window(10'000) == Burst::exact_takes * 8 / 4);
    CHECK(burst.window(160) == 10);
    burst.end();
    CHECK(burst.calls() == 0);
    CHECK(burst.window(10'000) == 0);
}

TEST_CASE("limits: a holding spends only rights whose change is committed") {
    RowTransaction rows;
    Holding holding("budget/b/a");
    CHECK(holding.empty());
    const auto change = holding.add(rows, 5);
    CHECK(rows.holding() == HoldingRow{HoldingRow::State::open, 5, 1});
    CHECK_FALSE(holding.spend(1));
    holding.committed(change);
    CHECK(holding.spend(3));
    CHECK_FALSE(holding.spend(3));
    CHECK(holding.left() == 2);
    holding.failed(holding.add(rows, 7), ErrorCode::store_failed);
    CHECK(holding.left() == 2);
    CHECK_FALSE(holding.uncertain());
}

TEST_CASE("limits: a holding keeps rights that were committed to the new database") {
    RowTransaction rows;
    auto holding = holding_of(rows, 5);
    const auto change = holding.add(rows, 7);
    holding.drop();  // the database has vanished before the commit ends
    holding.committed(change);
    CHECK_FALSE(holding.spend(1));
    REQUIRE(holding.uncertain());
    SECTION("the row proves where the commit went") {
        holding.resolve(rows.row());
        CHECK(holding.left() == 7);
    }
    SECTION("without the row the rights have vanished, too") {
        holding.resolve(std::nullopt);
        CHECK(holding.empty());
    }
}

TEST_CASE("limits: a holding spends no right that is on its way back into the budget") {
    RowTransaction rows;
    auto holding = holding_of(rows, 5);
    const auto change = holding.remove(rows);
    CHECK_FALSE(rows.value);
    CHECK(change.if_not == 5);
    CHECK_FALSE(holding.spend(1));
    CHECK_FALSE(holding.empty());
    SECTION("a failed commit leaves the rights to the tab") {
        holding.failed(change, ErrorCode::store_failed);
        CHECK(holding.spend(5));
    }
    SECTION("a commit takes them from the tab") {
        holding.committed(change);
        CHECK(holding.empty());
    }
}

TEST_CASE("limits: a holding resolves an unknown commit by the serial of its row") {
    RowTransaction rows;
    auto holding = holding_of(rows, 5);
    const auto before = rows.row();
    SECTION("more rights belong to the tab if the commit happened") {
        holding.failed(holding.add(rows, 3), ErrorCode::unknown_commit);
        CHECK(holding.uncertain());
        holding.resolve(rows.row());
        CHECK(holding.left() == 8);
    }
    SECTION("no more rights belong to the tab if the commit did not happen") {
        holding.failed(holding.add(rows, 3), ErrorCode::unknown_commit);
        holding.resolve(before);
        CHECK(holding.left() == 5);
    }
    SECTION("rights that were put back return to the tab if the commit did not happen") {
        holding.failed(holding.remove(rows), ErrorCode::unknown_commit);
        CHECK(holding.left() == 0);
        holding.resolve(before);
        CHECK(holding.left() == 5);
    }
    SECTION("rights that were put back are gone if the commit happened") {
        holding.failed(holding.remove(rows), ErrorCode::unknown_commit);
        holding.resolve(rows.row());
        CHECK(holding.empty());
    }
    SECTION("a commit that leaves the row as it is changes no rights") {
        holding.failed(holding.keep(), ErrorCode::unknown_commit);
        holding.resolve(before);
        CHECK(holding.left() == 5);
    }
    SECTION("a row that gives rights up proves no rights") {
        holding.failed(holding.add(rows, 3), ErrorCode::unknown_commit);
        holding.give(rows, holding.surrender());
        holding.resolve(rows.row());
        CHECK(holding.empty());
    }
    CHECK_FALSE(holding.uncertain());
}

TEST_CASE("limits: a holding that surrenders lets any tab put its rights back") {
    RowTransaction rows;
    auto holding = holding_of(rows, 5);
    CHECK_FALSE(holding.may_give());
    CHECK(Holding::given_by(rows.row()) == 0);
    CHECK(Holding::given_by(std::nullopt) == 0);
    const auto amount = holding.surrender();
    CHECK(amount == 5);
    CHECK_FALSE(holding.spend(1));
    holding.give(rows, amount);
    CHECK(Holding::given_by(rows.row()) == 5);
    CHECK(holding.may_give());
    SECTION("its next row gives nothing up") {
        holding.given();
        CHECK(holding.empty());
        holding.committed(holding.add(rows, 2));
        CHECK_FALSE(holding.may_give());
        CHECK(rows.holding() == HoldingRow{HoldingRow::State::open, 2, 3});
    }
    SECTION("the rights are its own again if nothing was written") {
        holding.restore(amount);
        CHECK(holding.spend(5));
    }
}

TEST_CASE("limits: a recall ignores holders that do not answer until they send a message") {
    LimitScene scene(1);
    auto& tab = scene.origin.open_tab({});
    auto& page = tab.run<RecallPage>(tab);
    auto& recall = page.recall;
    CHECK_FALSE(recall.may_help({}));
    CHECK(recall.may_help({"b"}));
    scene.origin.clock().jump(Recall::wait_ms - 1);
    CHECK(recall.may_help({"b"}));
    CHECK_FALSE(recall.is_silent("b"));
    scene.origin.clock().jump(1);
    CHECK_FALSE(recall.may_help({"b"}));
    CHECK(recall.is_silent("b"));
    recall.end();
    CHECK(recall.may_help({"c"}));
    CHECK_FALSE(recall.is_silent("c"));
    recall.note_alive("b");
    CHECK_FALSE(recall.is_silent("b"));
}

TEST_CASE("limits: a recall waits a quarter of its time, or until a tab changes what is used") {
    LimitScene scene(1);
    auto& tab = scene.origin.open_tab({});
    auto& page = tab.run<RecallPage>(tab);
    const auto since_ms = tab.clock().monotonic_ms();
    page.ask({"b"});
    CHECK(page.asked == 1);
    scene.origin.run_until([&] { return page.returned == 1; });
    CHECK(tab.clock().monotonic_ms() - since_ms >= Recall::wait_ms / 4);
    const auto again_ms = tab.clock().monotonic_ms();
    page.ask({"b"});
    page.recall.changed();
    scene.origin.run_until([&] { return page.returned == 2; });
    CHECK(tab.clock().monotonic_ms() - again_ms < Recall::wait_ms / 4);
}

TEST_CASE("limits: a recall asks no dead holder, and ignores it from then on") {
    LimitScene scene(1);
    auto& tab = scene.origin.open_tab({});
    auto& page = tab.run<RecallPage>(tab);
    page.live = {"c"};
    page.ask({"b"});
    scene.origin.run_until([&] { return page.returned == 1; });
    CHECK(page.asked == 0);
    CHECK(page.recall.is_silent("b"));
    page.ask({"b", "c"});
    scene.origin.run_until([&] { return page.returned == 2; });
    CHECK(page.asked == 1);
    CHECK_FALSE(page.recall.is_silent("c"));
}

TEST_CASE("limits: a rate clock's bounds hold the time of a row between question and answer") {
    ManualClock clock;
    RateClock time(clock);
    CHECK_FALSE(time.known());
    time.begin(500);
    CHECK(time.known());
    clock.at_ms = 10;
    CHECK(time.now() == 510);
    CHECK(time.ahead() == 1);
    time.forget();
    CHECK_FALSE(time.known());
    CHECK(time.resets() == 1);
    // The tab asks at 10 and reads the answer at 40. The time at 40 is from 600 to 600 + 2 + 30.
    clock.at_ms = 40;
    time.join(600, 2, 10);
    CHECK(time.now() == 600);
    CHECK(time.ahead() == 33);
}

TEST_CASE("limits: a rate clock never goes back, and follows a later time that it sees") {
    ManualClock clock;
    RateClock time(clock);
    clock.at_ms = 40;
    time.join(600, 2, 10);
    time.see(590);
    CHECK(time.now() == 600);
    time.see(620);
    CHECK(time.now() == 620);
    CHECK(time.ahead() == 13);
    // A time above both bounds moves both.
    time.see(700);
    CHECK(time.now() == 700);
    CHECK(time.ahead() == 1);
    clock.at_ms = 41.5;
    CHECK(time.now() == 701);
}

}  // namespace tabacus::test
