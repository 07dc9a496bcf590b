// The channel of a replica's news.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/common/wait_list.hpp"
#include "protocol/replica/counter/counter_set.hpp"
#include "protocol/replica/replica_news.hpp"
#include "protocol/replica/replica_slot.hpp"

namespace tabacus::test {
namespace {

class FakeChannel final : public Channel {
  public:
    explicit FakeChannel(std::vector<std::string>& posted) : posted_(posted) {}
    void post(std::string_view message) override { posted_.emplace_back(message); }
    void on_message(Function<void(std::string_view)> /*callback*/) override {}

  private:
    std::vector<std::string>& posted_;
};

}  // namespace

TEST_CASE("news: they are posted while there is a channel, in the format of messages") {
    const Message message{Message::Kind::totals, "c", "g/0", {3, {5, 1}}};
    std::vector<std::string> posted;
    ReplicaNews news;
    CHECK_FALSE(news.has_channel());
    news.post(message);
    CHECK(posted.empty());

    news.set_channel(std::make_unique<FakeChannel>(posted));
    CHECK(news.has_channel());
    news.post(message);
    REQUIRE(posted.size() == 1);
    CHECK(parse_message(posted.front()) == message);

    news.close_channel();
    CHECK_FALSE(news.has_channel());
    news.post(message);
    CHECK(posted.size() == 1);
}

TEST_CASE("news: a row is announced once, under its slot and epoch, and only once it is based") {
    std::vector<std::string> posted;
    ReplicaNews news;
    news.set_channel(std::make_unique<FakeChannel>(posted));
    ReplicaSlot slot;
    slot.begin_epoch({"g", "0", 3});
    CounterSet counters;
    auto& based = counters.add("based", Durability::relaxed, false);
    auto& unbased = counters.add("unbased", Durability::relaxed, false);
    based.own_row.set_base({10, 0});
    based.add(-2);
    unbased.add(1);
    news.announce(counters, slot);
    CHECK(posted.empty());  // nothing is to be announced

    based.announceable = unbased.announceable = true;
    news.announce(counters, slot);
    REQUIRE(posted.size() == 1);
    CHECK(parse_message(posted.front()) ==
          Message{Message::Kind::totals, "based", "g/0", {3, {10, 2}}});
    news.announce(counters, slot);
    CHECK(posted.size() == 1);
}

TEST_CASE("wait list: a coroutine that waits again while it is released waits for the next time") {
    struct Rounds {
        static Task<void> wait_twice(WaitList& list, int& rounds) {
            co_await list.wait();
            ++rounds;
            co_await list.wait();
            ++rounds;
        }
    };
    WaitList list;
    int rounds = 0;
    Scope scope;
    scope.spawn(Rounds::wait_twice(list, rounds));
    list.release_all();
    CHECK(rounds == 1);
    list.release_all();
    CHECK(rounds == 2);
    list.release_all();
    CHECK(scope.idle());
}

}  // namespace tabacus::test
