// The laboratory's Web Locks, each rule tested against the sentence of the specification that it follows.
#include <catch2/catch_test_macros.hpp>

#include "lab/origin.hpp"
#include "recorder.hpp"

namespace tabacus::lab::test {
namespace {

struct Log final : LockListener {
    void granted(RequestId id) override { entries.push_back("granted " + std::to_string(id)); }
    void not_available(RequestId id) override { entries.push_back("null " + std::to_string(id)); }
    void stolen(RequestId id) override { entries.push_back("stolen " + std::to_string(id)); }
    std::vector<std::string> take() { return std::exchange(entries, {}); }
    std::vector<std::string> entries;
};
using Texts = std::vector<std::string>;

LockManager::Request exclusive(RequestId id) {
    return {.id = id, .client = static_cast<std::uint32_t>(id), .name = "a"};
}
LockManager::Request shared(RequestId id) {
    auto request = exclusive(id);
    request.mode = LockMode::shared;
    return request;
}

}  // namespace

TEST_CASE("locks: requests are granted in their order; a reader overtakes no waiting writer") {
    Log log;
    LockManager locks(log, recorder);
    locks.request(shared(1));
    locks.request(exclusive(2));
    locks.request(shared(3));
    locks.request(shared(4));
    CHECK(log.take() == Texts{"granted 1"});
    locks.release(1);
    CHECK(log.take() == Texts{"granted 2"});
    locks.release(2);
    CHECK(log.take() == Texts{"granted 3", "granted 4"});
    CHECK(locks.snapshot().held.size() == 2);
}

TEST_CASE("locks: ifAvailable gets null behind a holder and behind a waiter, and is not queued") {
    Log log;
    LockManager locks(log, recorder);
    auto request = shared(3);
    request.if_available = true;
    locks.request(shared(1));
    locks.request(exclusive(2));
    locks.request(request);
    CHECK(log.take() == Texts{"granted 1", "null 3"});
    CHECK(locks.snapshot().pending.size() == 1);
}

TEST_CASE("locks: a steal takes the lock from every holder and passes the queue") {
    Log log;
    LockManager locks(log, recorder);
    locks.request(shared(1));
    locks.request(shared(2));
    locks.request(exclusive(3));
    auto stealer = exclusive(4);
    stealer.steal = true;
    locks.request(stealer);
    CHECK(log.take() == Texts{"granted 1", "granted 2", "stolen 1", "stolen 2", "granted 4"});
    locks.release(1);  // without effect: request 1 has lost the lock
    CHECK(log.take().empty());
    locks.release(4);
    CHECK(log.take() == Texts{"granted 3"});
}

TEST_CASE("locks: an aborted waiter lets those behind it pass") {
    Log log;
    LockManager locks(log, recorder);
    locks.request(shared(1));
    locks.request(exclusive(2));
    locks.request(shared(3));
    locks.abort(2);
    CHECK(log.take() == Texts{"granted 1", "granted 3"});
}

TEST_CASE(
    "locks: the end of a client releases its locks and withdraws its requests, and no others") {
    Log log;
    LockManager locks(log, recorder);
    locks.request(exclusive(1));
    locks.request(exclusive(2));
    auto other = exclusive(5);
    other.name = "b";
    locks.request(other);
    locks.request(exclusive(3));
    log.take();
    locks.end(2);
    CHECK(log.take().empty());
    locks.end(1);
    CHECK(log.take() == Texts{"granted 3"});
    CHECK(locks.holds_any(5));
}

}  // namespace tabacus::lab::test
