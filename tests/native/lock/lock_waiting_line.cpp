// WaitingLine and Departures: what tabs store about a lease beside its row.
#include "protocol/lock/lease/waiting_line.hpp"

#include <catch2/catch_test_macros.hpp>

#include "lock_parts_scene.hpp"

namespace tabacus::test {
namespace {

constexpr const char* grant_id = "0grant0";
constexpr const char* tab_id = "0tab0";

}  // namespace

TEST_CASE("waiting line: a line is read as it was written", "[locks]") {
    const WaitingLine line{grant_id,
                           {{LineEntry::Kind::reads, grant_id, tab_id, 0, 5'000},
                            {LineEntry::Kind::waits, tab_id, tab_id, 7, 90'000}}};
    REQUIRE(parse_line(format_line(line)) == line);
    REQUIRE(parse_line(format_line({})) == WaitingLine());
}

TEST_CASE("waiting line: a text that no tab wrote is no line", "[locks]") {
    const auto good = format_line({grant_id, {{LineEntry::Kind::waits, tab_id, tab_id, 7, 5}}});
    REQUIRE(parse_line(good).has_value());
    REQUIRE_FALSE(parse_line("").has_value());
    REQUIRE_FALSE(parse_line("2" + good.substr(1)).has_value());
    REQUIRE_FALSE(parse_line(good + ";").has_value());
    REQUIRE_FALSE(parse_line(good.substr(0, good.rfind(';'))).has_value());
    auto unknown = good;
    unknown[unknown.find(";x;") + 1] = 'y';
    REQUIRE_FALSE(parse_line(unknown).has_value());
}

TEST_CASE("departures: a stored departure is news once, until its row is removed", "[locks]") {
    LockPartsScene scene;
    auto& departures = scene.parts.context.departures;
    std::vector<std::string> rows;
    const auto read = [&] {
        std::optional<bool> news;
        run_in(
            scene.parts.context.scope, departures.read("l", rows),
            [&](bool found) { news = found; }, [](const Failure&) {});
        scene.origin.run_until([&] { return news.has_value(); });
        return *news;
    };
    REQUIRE_FALSE(read());
    scene.parts.lock.spawn(departures.store("l", grant_id));
    scene.pass(1);
    REQUIRE_FALSE(departures.contains(grant_id));
    REQUIRE(read());
    REQUIRE(departures.contains(grant_id));
    REQUIRE(rows.size() == 1);
    REQUIRE_FALSE(read());
    scene.parts.lock.spawn(departures.remove(rows));
    scene.pass(1);
    REQUIRE_FALSE(read());
    REQUIRE(rows.empty());
}

TEST_CASE("departures: a name that is no identifier is not noted", "[locks]") {
    LockPartsScene scene;
    auto& departures = scene.parts.context.departures;
    departures.note({"no identifier", grant_id});
    REQUIRE_FALSE(departures.contains("no identifier"));
    REQUIRE(departures.contains(grant_id));
}

}  // namespace tabacus::test
