// ClaimTracker: what a tab that watches a queue learns of its jobs from events.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "protocol/queue/claim_tracker.hpp"

namespace tabacus::test {
namespace {

using Kind = QueueEvent::Kind;
using Fields = std::vector<std::string>;

QueueEvent event_of(Kind kind, Fields fields, std::int64_t count = 9) {
    return {kind, "tab", 1, count, std::move(fields)};
}

/// Makes the event that a slot has claimed these jobs. The key of a job is "k" and its id, and its
/// kind is "kind".
QueueEvent claim_of(const std::string& slot, const Fields& ids) {
    auto event = event_of(Kind::running, {});
    for (const auto& id : ids) {
        event.fields.insert(event.fields.end(), {id, "k" + id, "kind", "1"});
    }
    event.fields.push_back(slot);
    return event;
}

QueueEvent end_of(Kind kind, const Fields& ids) {
    auto event = event_of(kind, {});
    for (const auto& id : ids) {
        event.fields.insert(event.fields.end(), {id, "k" + id, "kind"});
        if (kind == Kind::failed) event.fields.insert(event.fields.end(), {"an error", "again"});
    }
    return event;
}

/// Describes reports: "kind id (jobs that run)" for each, with the letter of the event's kind.
Fields texts_of(const std::vector<QueueReport>& reports) {
    Fields texts;
    for (const auto& report : reports) {
        auto text = std::string(1, static_cast<char>(report.type)) + " " + report.job.id + " (";
        for (const auto& job : report.state.running) text += job.id;
        texts.push_back(text + ")");
    }
    return texts;
}

ClaimTracker watching(int concurrency) {
    ClaimTracker tracker(concurrency);
    tracker.set_reporting(true);
    return tracker;
}

JobInfo running_job(const std::string& id) {
    JobInfo info;
    info.id = id;
    info.key = "k" + id;
    info.kind = "kind";
    info.tab = "tab";
    return info;
}

Fields running_ids(const ClaimTracker& tracker) {
    Fields ids;
    const auto state = tracker.state();
    for (const auto& job : state.running) ids.push_back(job.id);
    return ids;
}

}  // namespace

TEST_CASE("queue tracker: of jobs claimed together each is reported as running before its end") {
    auto tracker = watching(1);
    CHECK(texts_of(tracker.receive(claim_of("0", {"a", "b", "c"}))) == Fields{"r a (a)"});
    CHECK(texts_of(tracker.receive(end_of(Kind::done, {"a", "b"}))) ==
          Fields{"d a ()", "r b (b)", "d b ()"});
    const auto failed = tracker.receive(end_of(Kind::failed, {"c"}));
    CHECK(texts_of(failed) == Fields{"r c (c)", "f c ()"});
    CHECK(failed.back().error == "an error");
    CHECK_FALSE(failed.back().final);
    CHECK(failed.front().job.key == "kc");
    CHECK(failed.front().job.attempt == 1);
    CHECK(failed.front().job.tab == "tab");
    CHECK(failed.back().state.done == 2);
    CHECK(failed.back().state.failed == 1);
    CHECK(failed.back().state.size == 9);
}

TEST_CASE(
    "queue tracker: a job that is given back is reported only if it was reported as running") {
    auto tracker = watching(1);
    tracker.receive(claim_of("0", {"a", "b"}));
    CHECK(texts_of(tracker.receive(end_of(Kind::returned, {"b", "a"}))) == Fields{"b a ()"});
    CHECK(running_ids(tracker).empty());
    CHECK(texts_of(tracker.receive(end_of(Kind::done, {"a", "b"}))) == Fields{"d a ()", "d b ()"});
    CHECK(texts_of(tracker.receive(end_of(Kind::cancelled, {"x"}))) == Fields{"x x ()"});
}

TEST_CASE("queue tracker: what a slot had claimed has left when the slot claims anew") {
    auto tracker = watching(2);
    tracker.receive(claim_of("0", {"a", "b"}));
    tracker.receive(claim_of("1", {"c", "d"}));
    CHECK(texts_of(tracker.receive(claim_of("0", {"e"}))) == Fields{"r e (ce)"});
    // The end of "b" was lost, or comes late: it is not reported as running.
    CHECK(texts_of(tracker.receive(end_of(Kind::done, {"b"}))) == Fields{"d b (ce)"});
    CHECK(texts_of(tracker.receive(end_of(Kind::done, {"d"}))) == Fields{"r d (de)", "d d (e)"});
}

TEST_CASE("queue tracker: a job that runs on in the next claim of its slot is not reported again") {
    auto tracker = watching(2);
    tracker.receive(claim_of("0", {"a", "b"}));
    tracker.receive(event_of(Kind::progress, {"a", "500000", "half"}));
    CHECK(tracker.receive(claim_of("0", {"a"})).empty());
    CHECK(running_ids(tracker) == Fields{"a"});
    CHECK(tracker.state().running.front().fraction == 0.5);
    // It runs again in another slot, or for another time: that is another run.
    CHECK(texts_of(tracker.receive(claim_of("1", {"a"}))) == Fields{"r a (a)"});
    CHECK(tracker.state().running.front().fraction < 0);
}

TEST_CASE("queue tracker: progress is reported with the key and kind of a job that is known") {
    auto tracker = watching(1);
    tracker.receive(claim_of("0", {"a"}));
    const auto known = tracker.receive(event_of(Kind::progress, {"a", "250000", "quarter"}));
    REQUIRE(known.size() == 1);
    CHECK(known.front().job.key == "ka");
    CHECK(known.front().job.kind == "kind");
    CHECK(known.front().job.fraction == 0.25);
    CHECK(known.front().state.running.front().note == "quarter");
    const auto unknown = tracker.receive(event_of(Kind::progress, {"x", "250000", ""}));
    REQUIRE(unknown.size() == 1);
    CHECK(unknown.front().job.attempt == 0);
    CHECK(unknown.front().job.id == "x");
    CHECK(unknown.front().job.fraction == 0.25);
}

TEST_CASE("queue tracker: a job that is settled does not run, and its event is reported once") {
    auto tracker = watching(1);
    tracker.receive(claim_of("0", {"a"}));
    tracker.settle({{"x", {}}, {"a", {}}});
    CHECK(tracker.state().running.empty());
    CHECK(texts_of(tracker.receive(end_of(Kind::done, {"a"}))) == Fields{"d a ()"});
}

TEST_CASE("queue tracker: an event of the whole queue is one report, and clear() ends all claims") {
    auto tracker = watching(1);
    tracker.receive(claim_of("0", {"a"}));
    const auto paused = tracker.receive(event_of(Kind::paused, {"user"}));
    CHECK(texts_of(paused) == Fields{"z  (a)"});
    CHECK(paused.front().state.paused);
    CHECK_FALSE(tracker.receive(event_of(Kind::resumed, {})).front().state.paused);
    CHECK(texts_of(tracker.receive(event_of(Kind::cancelled, {}, 0))) == Fields{"x  ()"});
    CHECK(running_ids(tracker).empty());
    CHECK(texts_of(tracker.receive(end_of(Kind::done, {"a", "b"}))) == Fields{"d a ()", "d b ()"});
}

TEST_CASE("queue tracker: a job enqueued into an empty queue shows that events were lost") {
    auto tracker = watching(1);
    tracker.receive(claim_of("0", {"a"}));
    tracker.learn(0, false);
    CHECK(texts_of(tracker.receive(end_of(Kind::queued, {"b"}))) == Fields{"q b ()"});
}

TEST_CASE("queue tracker: a refresh adds what runs, and ends what was known before and does not") {
    auto tracker = watching(2);
    tracker.receive(claim_of("0", {"a"}));
    const auto mark = tracker.mark();
    tracker.receive(claim_of("1", {"b"}));
    tracker.refresh({running_job("c")}, mark);
    CHECK(running_ids(tracker) == Fields{"b", "c"});
    CHECK(tracker.state().running.back().attempt == 1);
    // It is not reported again when its end comes, whichever slot has it.
    CHECK(texts_of(tracker.receive(end_of(Kind::done, {"c"}))) == Fields{"d c (b)"});
}

TEST_CASE("queue tracker: with one slot a refreshed job leaves when the slot claims another") {
    auto tracker = watching(1);
    tracker.refresh({running_job("a")}, 0);
    CHECK(running_ids(tracker) == Fields{"a"});
    CHECK(texts_of(tracker.receive(claim_of("0", {"b"}))) == Fields{"r b (b)"});
}

TEST_CASE("queue tracker: nothing is reported while nobody watches, and the state is kept") {
    ClaimTracker tracker(1);
    CHECK(tracker.receive(claim_of("0", {"a", "b"})).empty());
    CHECK(tracker.receive(end_of(Kind::done, {"a"})).empty());
    CHECK(tracker.state().done == 1);
    tracker.set_reporting(true);
    CHECK(texts_of(tracker.receive(end_of(Kind::done, {"b"}))) == Fields{"r b (b)", "d b ()"});
}

TEST_CASE("queue tracker: the values that a job has given are unneeded once the job has left") {
    ClaimTracker tracker(1);
    for (const auto* const number : {"1", "2", "3"}) tracker.keep_value("a", {number, true});
    tracker.keep_value("a", {"a text", false});
    tracker.receive(claim_of("0", {"a"}));
    CHECK(tracker.take_unneeded_values().empty());
    tracker.receive(end_of(Kind::done, {"a", "b"}));
    CHECK(tracker.take_unneeded_values() == Fields{"1", "2", "3"});
    CHECK(tracker.take_unneeded_values().empty());
}

}  // namespace tabacus::test
