// The news of one counter: when its own row is announced, and what was received is checked.
#include <catch2/catch_test_macros.hpp>

#include "protocol/replica/counter/counter_news.hpp"

namespace tabacus::test {

TEST_CASE("counter news: a row that is due is announced once") {
    CounterNews news(false);
    CHECK_FALSE(news.pending());
    CHECK_FALSE(news.take_due());
    news.announce();
    news.announce();
    CHECK(news.due());
    CHECK(news.pending());
    CHECK(news.take_due());
    CHECK_FALSE(news.take_due());
    CHECK_FALSE(news.pending());
}

TEST_CASE("counter news: a committed row is announced once more, and not before it is repeated") {
    CounterNews news(false);
    news.announce();
    news.on_commit();
    CHECK(news.take_due());
    CHECK(news.pending());
    CHECK_FALSE(news.take_due());
    news.repeat();
    CHECK(news.take_due());
    news.repeat();
    CHECK_FALSE(news.take_due());
    CHECK_FALSE(news.pending());
}

TEST_CASE("counter news: only the first call begins to follow a counter") {
    CounterNews news(false);
    CHECK_FALSE(news.followed());
    CHECK(news.follow());
    CHECK_FALSE(news.follow());
    CHECK(news.followed());
    CHECK_FALSE(CounterNews(true).follow());
}

TEST_CASE("counter news: what was received since the last check is checked once") {
    CounterNews news(true);
    CHECK_FALSE(news.take_unconfirmed());
    news.expect_confirmation();
    news.expect_confirmation();
    CHECK(news.take_unconfirmed());
    CHECK_FALSE(news.take_unconfirmed());
}

}  // namespace tabacus::test
