// The laboratory's localStorage, each rule tested against the sentence of the specification that it follows.
#include <catch2/catch_test_macros.hpp>

#include "lab/origin.hpp"
#include "recorder.hpp"

namespace tabacus::lab::test {

TEST_CASE("storage: an equal value changes nothing and fires no event") {
    StorageArea area(StorageModel::interleaved, recorder);
    area.start(1);
    CHECK(area.send(*area.set(1, 1, "k", "a")).changes);
    CHECK_FALSE(area.set(1, 1, "k", "a"));
    CHECK_FALSE(area.set(1, 1, "none", std::nullopt));
}

TEST_CASE("storage: a write that equals only the writer's stale copy counts as a change") {
    StorageArea area(StorageModel::cached, recorder);
    area.overwrite("k", "a");
    area.start(1);
    area.start(2);
    const auto theirs = area.send(*area.set(2, 2, "k", "b"));
    const auto own = area.send(*area.set(1, 1, "k", "a"));
    CHECK(own.changes);
    CHECK(own.change.old_value == "b");
    CHECK_FALSE(area.send(*area.set(1, 1, "k", "a")).changes);
    CHECK_FALSE(area.set(1, 1, "none", std::nullopt));
    for (const auto process : {1U, 2U}) {
        area.receive(process, theirs);
        area.receive(process, own);
    }
    CHECK(area.get(1, "k") == "a");
    CHECK(area.get(2, "k") == "a");
}

TEST_CASE(
    "storage: where the copy decides, an equal write is dropped and a stale one fires an event") {
    StorageArea area(StorageModel::cached, recorder, lab::EqualWrites::dropped);
    area.overwrite("k", "a");
    area.start(1);
    area.start(2);
    const auto theirs = area.send(*area.set(2, 2, "k", "b"));
    CHECK_FALSE(area.set(1, 1, "k", "a"));
    CHECK(area.send(*area.set(1, 1, "k", "b")).changes);
    area.receive(1, theirs);
    CHECK(area.get(1, "k") == "b");
}

TEST_CASE("storage: a process that clears keeps what it receives before its clear() takes effect") {
    StorageArea area(StorageModel::cached, recorder);
    area.overwrite("other", "x");
    area.start(1);
    area.start(2);
    const auto theirs = area.send(*area.set(2, 2, "k", "b"));
    const auto cleared = area.send(area.clear(1, 1));
    for (const auto process : {1U, 2U}) {
        area.receive(process, theirs);
        area.receive(process, cleared);
    }
    CHECK(area.values().empty());
    CHECK(area.keys(2, "").empty());
    CHECK(area.keys(1, "") == std::vector<std::string>{"k"});
}

TEST_CASE("storage: a key whose write is under way outlives another process's clear()") {
    StorageArea area(StorageModel::cached, recorder);
    area.overwrite("other", "x");
    area.start(1);
    area.start(2);
    const auto cleared = area.send(area.clear(1, 1));
    const auto own = area.set(2, 2, "k", "b");
    area.receive(2, cleared);
    CHECK(area.keys(2, "") == std::vector<std::string>{"k"});
    area.receive(2, area.send(*own));
    CHECK(area.get(2, "k") == "b");
}

TEST_CASE("storage: the copies of all processes become equal in the end") {
    StorageArea area(StorageModel::cached, recorder);
    area.start(1);
    area.start(2);
    const auto first = area.set(1, 1, "k", "a");
    const auto second = area.set(2, 2, "k", "b");
    REQUIRE((first && second));
    CHECK(area.get(1, "k") == "a");
    CHECK(area.get(2, "k") == "b");
    for (const auto& write : {*first, *second}) area.send(write);
    for (const auto process : {1U, 2U}) {
        area.receive(process, *first);
        area.receive(process, *second);
    }
    CHECK(area.get(1, "k") == "b");
    CHECK(area.get(2, "k") == "b");
}

TEST_CASE(
    "storage: while a write is under way, its process ignores others' writes to that key only") {
    StorageArea area(StorageModel::cached, recorder);
    area.start(1);
    area.start(2);
    const auto theirs = area.set(2, 2, "k", "theirs");
    const auto other = area.set(2, 2, "other", "x");
    const auto own = area.set(1, 1, "k", "own");
    area.receive(1, *theirs);
    area.receive(1, *other);
    CHECK(area.get(1, "k") == "own");
    CHECK(area.get(1, "other") == "x");
}

TEST_CASE("storage: a write beyond the quota changes nothing") {
    StorageArea area(StorageModel::interleaved, recorder);
    area.start(1);
    area.set_quota(4);
    CHECK(area.set(1, 1, "k", "123"));
    area.send(*area.set(1, 1, "k", "321"));
    CHECK_THROWS_AS(area.set(1, 1, "k", "1234"), Error);
    CHECK(area.get(1, "k") == "321");
}

}  // namespace tabacus::lab::test
