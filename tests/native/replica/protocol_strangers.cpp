// Records and messages of foreign scripts. A corrupt record is quarantined while all others count.
// A false message on the channel is shown for a short time at most, and never stored.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "protocol/common/record.hpp"
#include "protocol_scene.hpp"

namespace tabacus::test {
namespace {

using lab::StoredValue;

/// Stores two rows, slot 0 with 3 and slot 1 with 4, whose owners are dead.
struct Stored {
    explicit Stored(Scene& scene) {
        const auto first = scene.ready();
        const auto second = scene.ready();
        scene.add_and_flush(first, 3);
        scene.add_and_flush(second, 4);
        scene.origin.run();
        for (const auto& [key, value] : scene.origin.database().rows(Store::rows))
            keys.push_back(key);
        scene.origin.kill(*first.tab);
        scene.origin.kill(*second.tab);
        scene.origin.run();
    }
    std::vector<std::string> keys;
};

void clear_backup(Scene& scene) {
    for (const auto& [key, value] : lab::StorageArea::Values(scene.origin.storage().values())) {
        if (key.find("/mirror/") != std::string::npos)
            scene.origin.storage().overwrite(key, std::nullopt);
    }
}

int corrupt_warnings(const Page& page) {
    return static_cast<int>(
        std::count_if(page.notices.begin(), page.notices.end(),
                      [](const auto& n) { return n.code == "corrupt-record"; }));
}

auto spoilt() {
    return GENERATE(as<std::string>{}, "", "x", "0", "1", "1;", "1;1", "1;1;3", "1;1;3;0;",
                    "1;1;3;0;0", "2.3;1;3;0", "01;1;3;0", "1;-1;3;0", "1;1;-3;0", "1;1;3;-1",
                    "1;1;03;0", "1;1;+3;0", "1;1;3.5;0", "1;1;1e3;0", "1;1; 3;0",
                    "1;1;9223372036854775808;0", "1;1;4611686018427387904;0",
                    "1;99999999999999999999;3;0", "{\"plus\":3}", "1;1;NaN;0", "\xff\xfe;1;3;0");
}

}  // namespace

TEST_CASE("a record states which programs can read it") {
    const auto is = [](std::string_view text, RecordVersion version) {
        CAPTURE(text);
        CHECK(version_of(text) == version);
    };
    for (const auto* const text : {"1;", "1;x", "2.1;3", "9999.1;3"})
        is(text, RecordVersion::readable);
    for (const auto* const text : {"2;3", "3.2;3", "9999;3"}) is(text, RecordVersion::newer);
    for (const auto* const text : {"", "1", "2", "x;", ";", "0;1", "02;1", "1.2;3", "2.;3", "2.0;3",
                                   "2.1.1;3", "12345;3", "-2;3", "2,1;3"}) {
        is(text, RecordVersion::damaged);
    }
    CHECK(parse_totals("2.1;1;3;0") == parse_totals("1;1;3;0"));
    CHECK(!parse_totals("2;1;3;0"));
}

TEST_CASE("a corrupt row of another slot causes one warning, and all other rows count") {
    const auto text = spoilt();
    const bool foreign = text.empty();
    CAPTURE(text);
    Scene scene(1);
    const Stored stored(scene);
    scene.origin.database().overwrite(Store::rows, stored.keys[1], StoredValue{text, foreign});
    const auto page = scene.ready();
    CHECK(scene.read(page) == 3);
    scene.add_and_flush(page, 10);
    CHECK(scene.read(page) == 13);
    scene.origin.run();
    CHECK(corrupt_warnings(*page.page) == 1);
}

TEST_CASE("a corrupt row of the own slot is quarantined, and continued from the backup") {
    const auto text = spoilt();
    const bool foreign = text.empty();
    const bool backed_up = GENERATE(true, false);
    CAPTURE(text, backed_up);
    Scene scene(1);
    const Stored stored(scene);
    scene.origin.database().overwrite(Store::rows, stored.keys[0], StoredValue{text, foreign});
    if (!backed_up) clear_backup(scene);
    const auto page = scene.ready();
    scene.add_and_flush(page, 10);
    CHECK(scene.read(page) == (backed_up ? 17 : 14));
    CHECK(scene.read(scene.ready()) == (backed_up ? 17 : 14));
    CHECK(corrupt_warnings(*page.page) == 1);
    CHECK(scene.origin.database().rows(Store::quarantine).size() == 1);
}

TEST_CASE(
    "a row that was read, and became corrupt since, is quarantined before it is overwritten") {
    const bool read_again = GENERATE(true, false);
    Scene scene(1);
    const Stored stored(scene);
    const auto page = scene.ready();
    page.page->counter("d").increment(1);
    scene.origin.run();
    REQUIRE(scene.read(page) == 7);
    scene.origin.database().overwrite(Store::rows, stored.keys[0], StoredValue{"x"});
    if (read_again) REQUIRE(scene.read(page) == 7);
    scene.add_and_flush(page, 10);
    CHECK(scene.read(page) == 17);
    // Without another read the tab knows what it has read, since no other tab writes the row.
    CHECK(scene.origin.database().rows(Store::quarantine).size() == (read_again ? 1 : 0));
}

TEST_CASE("rows under keys of any shape are quarantined or ignored") {
    const auto key = GENERATE(as<std::string>{}, "c/", "c/x", "c/x/", "c//0", "c/g/0/0", "c/G/0",
                              "c/g/é", "c", "", "/", "d/g/0");
    CAPTURE(key);
    Scene scene(1);
    const Stored stored(scene);
    scene.origin.database().overwrite(Store::rows, key, StoredValue{"1;1;1000;0"});
    const auto page = scene.ready();
    scene.add_and_flush(page, 10);
    CHECK(scene.read(page) == 17);
    CHECK(page.page->errors.empty());
}

TEST_CASE("a corrupt generation is replaced, a loss is reported, and no increment is missing") {
    const auto text =
        GENERATE(as<std::string>{}, "", "NOT AN ID", "0123456789012345678901234567890123");
    CAPTURE(text);
    Scene scene(1);
    const Stored stored(scene);
    scene.origin.database().overwrite(Store::meta, "generation", StoredValue{text, text.empty()});
    const auto page = scene.ready();
    CHECK(scene.read(page) == 7);
    scene.add_and_flush(page, 10);
    CHECK(scene.read(page) == 17);
    CHECK(page.page->losses().size() == 1);
    const auto other = scene.ready();
    scene.add_and_flush(other, 1);
    CHECK(scene.read(scene.ready()) == 18);
}

TEST_CASE("a slot with corrupt claims is adopted above every epoch of its rows") {
    const auto text =
        GENERATE(as<std::string>{}, "x", "1;g;0;-1", "0;g;0;1", "1;g;0;9007199254740991999");
    CAPTURE(text);
    Scene scene(1);
    const Stored stored(scene);
    auto& database = scene.origin.database();
    const auto claims = lab::StoreRows(database.rows(Store::claims));
    for (const auto& [holder, subject] : claims) {
        database.overwrite(Store::claims, holder, std::nullopt);
        database.overwrite(Store::claims, text + subject.text, subject);
    }
    const auto first = scene.ready();
    const auto second = scene.ready();
    scene.add_and_flush(first, 10);
    scene.add_and_flush(second, 20);
    CHECK(scene.read(first) == 37);
    CHECK(scene.read(scene.ready()) == 37);
}

TEST_CASE(
    "a slot with exhausted epochs is passed over with one warning, and its row still counts") {
    Scene scene(1);
    const Stored stored(scene);
    const auto& rows = scene.origin.database().rows(Store::rows);
    const auto generation = rows.begin()->first.substr(2, rows.begin()->first.rfind('/') - 2);
    auto last = rows.at(stored.keys[0]);
    last.text = "1;" + std::to_string(epoch_max) + ";3;0";
    scene.origin.database().overwrite(Store::rows, stored.keys[0], last);
    for (const auto& [key, value] : scene.origin.database().rows(Store::claims)) {
        if (value.text != "slot/0") continue;
        scene.origin.database().overwrite(Store::claims, key, std::nullopt);
        scene.origin.database().overwrite(Store::claims,
                                          "1;" + generation + ";0;" + std::to_string(epoch_max),
                                          StoredValue{"slot/0", false});
        break;
    }
    const auto page = scene.ready();
    scene.add_and_flush(page, 10);
    CHECK(scene.read(page) == 17);
    CHECK(corrupt_warnings(*page.page) == 1);
    CHECK(page.page->errors.empty());
    CHECK(scene.read(scene.ready()) == 17);
}

TEST_CASE("a corrupt backup is ignored if the database is intact") {
    const auto text =
        GENERATE(as<std::string>{}, "", "x", "1;1", "0;1;1000;0", "1;1;9223372036854775808;0");
    CAPTURE(text);
    Scene scene(1);
    const Stored stored(scene);
    for (const auto& [key, value] : lab::StorageArea::Values(scene.origin.storage().values())) {
        scene.origin.storage().overwrite(key, text);
    }
    const auto page = scene.ready();
    scene.add_and_flush(page, 10);
    CHECK(scene.read(page) == 17);
    CHECK(page.page->errors.empty());
}

TEST_CASE("a generation of a newer version in the backup stops nothing beside an intact database") {
    Scene scene(1);
    const Stored stored(scene);
    const auto key = Names("test").generation();
    scene.origin.storage().overwrite(key, "2;x");
    const auto page = scene.ready();
    scene.add_and_flush(page, 10);
    CHECK(page.page->errors.empty());
    CHECK(page.page->losses().empty());
    CHECK(scene.read(page) == 17);
    CHECK(lab::StorageArea::Values(scene.origin.storage().values()).at(key) == "2;x");
    // If the database cannot tell its generation either, only the newer version can.
    scene.origin.kill(*page.tab);
    scene.origin.database().overwrite(Store::meta, "generation", StoredValue{"NOT AN ID"});
    const auto late = scene.ready();
    scene.add_and_flush(late, 1);
    CHECK(late.page->errors == std::vector{ErrorCode::version_mismatch});
    CHECK(lab::StorageArea::Values(scene.origin.storage().values()).at(key) == "2;x");
}

TEST_CASE("a row that only a newer version's backup has is restored to a database that was lost") {
    Scene scene(1);
    const auto writer = scene.ready();
    scene.add_and_flush(writer, 3);
    scene.origin.run();
    const auto key = scene.origin.database().rows(Store::rows).begin()->first;  // "c/gen/0"
    scene.origin.kill(*writer.tab);
    const auto backup = Names("test").stored_row(key);
    scene.origin.storage().overwrite(backup, "2;3");
    scene.origin.lose_database();
    const auto page = scene.ready();
    scene.add_and_flush(page, 10);
    CHECK(page.page->losses().size() == 1);
    CHECK(scene.origin.database().rows(Store::rows).at(key).text == "2;3");
    CHECK(lab::StorageArea::Values(scene.origin.storage().values()).at(backup) == "2;3");
}

TEST_CASE("a newer version's backup never replaces a row that can be read") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        Scene scene(seed);
        const auto writer = scene.ready();
        scene.add_and_flush(writer, 3);
        const auto first = scene.ready();
        const auto second = scene.ready();
        scene.origin.run();
        REQUIRE(scene.read(first) == 3);
        REQUIRE(scene.read(second) == 3);
        const auto key = scene.origin.database().rows(Store::rows).begin()->first;
        scene.origin.kill(*writer.tab);
        scene.origin.storage().overwrite(Names("test").stored_row(key), "2;3");
        scene.origin.lose_database();
        scene.add_and_flush(first, 10);
        scene.add_and_flush(second, 10);
        CHECK(first.page->losses().size() + second.page->losses().size() > 0);
        CHECK(scene.read(first) == 23);
        CHECK(scene.read(second) == 23);
    }
}

TEST_CASE("a row that a newer version has continued is restored as that version backed it up") {
    Scene scene(1);
    const auto writer = scene.ready();
    scene.add_and_flush(writer, 3);
    const auto page = scene.ready();
    REQUIRE(scene.read(page) == 3);
    const auto key = scene.origin.database().rows(Store::rows).begin()->first;
    scene.origin.kill(*writer.tab);
    scene.origin.database().overwrite(Store::rows, key, StoredValue{"2;9"});
    scene.origin.storage().overwrite(Names("test").stored_row(key), "2;9");
    page.page->read();
    scene.origin.run();
    CHECK(page.page->read_errors == std::vector{ErrorCode::version_mismatch});
    scene.origin.lose_database();
    scene.add_and_flush(page, 10);
    CHECK(page.page->losses().size() == 1);
    CHECK(scene.origin.database().rows(Store::rows).at(key).text == "2;9");
}

TEST_CASE(
    "totals with an epoch of version 0.1.0 cause one warning, and other totals cause no warning") {
    Scene scene(1);
    const auto page = scene.ready();
    scene.add_and_flush(page, 3);
    scene.read(page);
    const auto other = scene.ready();
    scene.add_and_flush(other, 4);
    scene.origin.run();
    const auto warnings = [&] {
        return std::count_if(page.page->notices.begin(), page.page->notices.end(),
                             [](const auto& n) { return n.code == "older-version"; });
    };
    CHECK(warnings() == 0);
    for (int i = 0; i < 2; ++i) {
        scene.origin.post_foreign("tabacus/test/news", "1;n;c;g/7;1;1;0");
        scene.origin.run();
    }
    CHECK(warnings() == 1);
}

TEST_CASE("false rows of the backup never change a value while the database is intact") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        scene.add_and_flush(scene.ready(), 3);
        scene.add_and_flush(scene.ready(), 4);
        scene.origin.run();
        const auto key = scene.origin.database().rows(Store::rows).begin()->first;  // "c/gen/0"
        const auto generation = key.substr(2, key.rfind('/') - 2);
        for (int i = 0; i < 8; ++i) {
            const std::vector<std::string> rows = {key, "c/" + generation + "/1",
                                                   "c/" + generation + "/2", "c/zzz/0"};
            const std::vector<std::string> totals = {"1;1;1000;0", "1;1;0;1000",
                                                     "1;9007199254740991;500;500"};
            scene.origin.storage().overwrite(
                "tabacus/test/mirror/" + rows[scene.random.below(rows.size())],
                totals[scene.random.below(totals.size())]);
            scene.steps(scene.random.below(20));
            const auto member = scene.members[scene.random.below(scene.members.size())];
            if (scene.random.below(4) == 0 && scene.members.size() < 4) scene.ready();
            if (!member.tab->alive()) continue;
            if (scene.random.coin()) scene.add_and_flush(member);
            if (scene.random.coin()) scene.read(member);
            if (scene.random.below(6) == 0) scene.origin.kill(*member.tab);
            // A tab that rests meanwhile adopts its slot again.
            if (scene.random.coin()) scene.origin.run();
        }
        scene.origin.run();
        const auto attempted = scene.judge.attempted().plus;
        CHECK(scene.read(scene.ready()) == attempted);
        scene.add_and_flush(scene.ready());
        CHECK(scene.read(scene.ready()) == attempted + 1);
        CHECK(scene.judge.failures() == std::vector<std::string>{});
    }
}

TEST_CASE("hostile messages never cause a lasting wrong value, and are never stored") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        Scene scene(seed);
        const auto first = scene.ready();
        const auto second = scene.ready();
        scene.add_and_flush(first, 3);
        scene.add_and_flush(second, 4);
        scene.origin.run();
        const auto key = scene.origin.database().rows(Store::rows).begin()->first;  // "c/gen/0"
        const auto row = key.substr(2);
        const auto generation = row.substr(0, row.find('/'));
        const std::vector<std::string> lies = {
            "",
            "x",
            "1;h",
            "1;a;c",
            "1;c;c",
            "2;n;c;" + row + ";1;1000;0",
            "1;n;c;" + row + ";1;1000;0",
            "1;n;c;" + row + ";2;1000;0",
            "1;n;c;" + row + ";9007199254740991;0;0",
            "1;n;c;" + row + ";9007199254740991;4611686018427387903;0",
            "1;n;c;" + row + ";1;0;4611686018427387903",
            "1;n;c;" + generation + "/1;1;500;0",
            "1;n;c;" + generation + "/77;1;500;0",
            "1;n;c;zzz/0;1;500;0",
            "1;n;d;" + row + ";1;500;0",
            "1;n;c;" + row + ";1;9223372036854775807;0",
        };
        for (int i = 0; i < 6; ++i) {
            scene.origin.post_foreign("tabacus/test/news", lies[scene.random.below(lies.size())]);
            scene.steps(scene.random.below(20));
            const auto& member = scene.random.coin() ? first : second;
            if (scene.random.coin()) scene.add_and_flush(member);
            if (scene.random.coin()) scene.read(member);
        }
        switch (scene.random.below(4)) {
            case 0:
                scene.origin.lose_database();
                break;
            case 1:
                scene.origin.kill(*second.tab);
                break;
            default:
                break;
        }
        scene.origin.run();
        const auto attempted = scene.judge.attempted().plus;
        CHECK(first.page->counter().value() == attempted);
        CHECK(scene.read(first) == attempted);
        scene.add_and_flush(first);
        CHECK(scene.read(scene.ready()) == attempted + 1);
        CHECK(scene.judge.failures() == std::vector<std::string>{});
    }
}

}  // namespace tabacus::test
