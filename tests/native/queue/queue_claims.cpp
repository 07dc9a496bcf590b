// Claims of a queue: which jobs are claimed together, in which order, and which events tabs
// receive.
#include <catch2/catch_test_macros.hpp>

#include "queue_scene.hpp"

namespace tabacus::test {
namespace {

constexpr std::uint64_t claim_seeds = 6;

/// Returns a scene in which time passes only when nothing else can happen.
QueueScene time_last(std::uint64_t seed, QueueOptions options = {}) {
    return QueueScene(seed, options, {.longest_ms = 0, .effects = 0},
                      std::make_unique<TimeLastChooser>(seed));
}

/// Enqueues the jobs. All are accepted when this returns.
void enqueue_all(QueueScene& scene, QueuePage& page, std::vector<JobSpec> specs) {
    const auto before = scene.judge.accepted.size();
    const auto more = specs.size();
    for (auto& spec : specs) page.enqueue(std::move(spec));
    scene.until([&] { return scene.judge.accepted.size() == before + more; });
}

std::vector<JobSpec> specs_of(int count, const std::function<JobSpec(int)>& make) {
    std::vector<JobSpec> specs;
    specs.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) specs.push_back(make(i));
    return specs;
}

/// Returns how many fields the events of one kind had that the page received.
std::size_t fields_received(const QueuePage& page, QueueEvent::Kind kind) {
    std::size_t count = 0;
    for (const auto& event : page.events) count += event.kind == kind ? event.fields.size() : 0;
    return count;
}

}  // namespace

TEST_CASE("queue: a claim of several kinds passes over no job, however many rows each kind has") {
    for (std::uint64_t seed = 0; seed < claim_seeds; ++seed) {
        CAPTURE(seed);
        auto scene = time_last(seed);
        auto& page = *scene.open().page;
        page.queue().handle({"a", "b"});
        const auto paused = page.pause(true);
        scene.until([&] { return *paused; });
        std::vector<std::string> expected;
        const auto add = [&](const char* kind, int priority, bool keyed, int count) {
            std::vector<JobSpec> specs;
            for (int i = 0; i < count; ++i) {
                const auto text = std::to_string(expected.size());
                expected.push_back(text);
                specs.push_back({.payload = {text, false},
                                 .key = keyed ? text : "",
                                 .kind = kind,
                                 .priority = priority});
            }
            enqueue_all(scene, page, std::move(specs));
        };
        add("b", 9, false, 400);  // many jobs in a row, so that the next claims ask for few rows
        add("a", 5, true, 60);    // each job in a row of its own
        add("b", 0, false, 400);
        page.pause(false);
        scene.until([&] { return scene.judge.order.size() == expected.size(); });
        CHECK(scene.judge.order == expected);
    }
}

TEST_CASE(
    "queue: a following job runs before jobs of the same claim that are positioned behind it") {
    auto scene = time_last(0);
    auto& page = *scene.open().page;
    const auto spec = [](const char* text, int priority) {
        return JobSpec{.payload = {text, false}, .priority = priority};
    };
    enqueue_all(scene, page,
                {spec("first", 9), spec("a", 1), spec("b", 1), spec("c", 0), spec("d", 0)});
    page.on_done = [&](const JobInfo& job, JobOutcome& outcome) {
        if (job.payload.text == "a") outcome.next.push_back(spec("next", 1));
    };
    page.work();
    scene.until([&] { return scene.judge.order.size() == 6; });
    CHECK(scene.judge.order == std::vector<std::string>{"first", "a", "b", "next", "c", "d"});
}

TEST_CASE("queue: while jobs come one by one, few jobs are claimed only to be given back") {
    auto scene =
        QueueScene(1, {}, {.longest_ms = 1, .effects = 0}, std::make_unique<TimeLastChooser>(1));
    auto& worker = *scene.open().page;
    auto& other = *scene.open().page;
    enqueue_all(scene, worker, specs_of(2'000, [](int i) {
                    return JobSpec{.payload = {std::to_string(i), false}};
                }));
    worker.work();
    std::size_t asked = 0;
    while (scene.judge.order.size() < 1'000 && scene.origin.step()) {
        if (scene.judge.order.size() < 2 * asked) continue;
        other.enqueue("more " + std::to_string(asked++));
    }
    CHECK(fields_received(worker, QueueEvent::Kind::returned) < 10'000);
}

TEST_CASE("queue: a claim takes no more large jobs at once than fit") {
    auto scene = time_last(2);
    auto& page = *scene.open().page;
    enqueue_all(
        scene, page, specs_of(60, [](int i) {
            return JobSpec{.payload = {std::string(200'000, 'x') + std::to_string(i), false}};
        }));
    page.work();
    scene.until([&] { return scene.judge.order.size() == 60; });
    for (const auto& event : page.events) {
        if (event.kind == QueueEvent::Kind::running) CHECK(event.fields.size() <= 64);
    }
}

TEST_CASE("queue: events report jobs in the order in which they ended, failed or not") {
    for (std::uint64_t seed = 0; seed < claim_seeds; ++seed) {
        CAPTURE(seed);
        auto scene = time_last(seed);
        auto& page = *scene.open().page;
        enqueue_all(scene, page, specs_of(40, [](int i) {
                        return JobSpec{
                            .payload = {std::to_string(i), false}, .kind = "k", .optional = true};
                    }));
        page.on_done = [&](const JobInfo& job, JobOutcome& outcome) {
            if (std::stoi(job.payload.text) % 3 == 1) outcome.kind = JobOutcome::Kind::failed;
        };
        page.queue().handle({"k"});
        scene.until([&] { return scene.all_settled() && page.queue().count() == 0; });
        std::vector<std::string> ended;
        for (const auto& event : page.events) {
            const bool failed = event.kind == QueueEvent::Kind::failed;
            if (!failed && event.kind != QueueEvent::Kind::done) continue;
            const std::size_t step = failed ? 5 : 3;
            REQUIRE(event.fields.size() % step == 0);
            for (std::size_t at = 0; at < event.fields.size(); at += step) {
                ended.push_back(page.names[event.fields[at]]);
                CHECK(event.fields[at + 2] == "k");
            }
        }
        CHECK(ended == scene.judge.order);
    }
}

TEST_CASE("queue: the first of jobs claimed together takes a newer payload, too") {
    for (std::uint64_t seed = 0; seed < claim_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {}, {.longest_ms = 0.5, .slow_one_in = 2, .effects = 0},
                         std::make_unique<TimeLastChooser>(seed));
        auto& page = *scene.open().page;
        enqueue_all(scene, page, specs_of(30, [](int i) {
                        return JobSpec{.payload = {std::to_string(i), false},
                                       .key = std::to_string(i)};
                    }));
        // While a job runs, the job before it is asked for again, with a newer payload.
        page.on_done = [&](const JobInfo& job, JobOutcome&) {
            if (job.payload.text.starts_with("newer") || job.payload.text == "0") return;
            const auto before = std::to_string(std::stoi(job.payload.text) - 1);
            page.enqueue(JobSpec{.payload = {"newer " + before, false}, .key = before});
        };
        page.work();
        scene.until([&] { return scene.judge.begun.size() == 59 && scene.all_settled(); });
        for (int i = 0; i < 29; ++i)
            CHECK(scene.judge.begun.contains("newer " + std::to_string(i)));
    }
}

TEST_CASE("queue: a job that follows another is found, however many kinds there are") {
    auto scene = time_last(0);
    auto& page = *scene.open().page;
    std::vector<JobSpec> specs;
    for (std::size_t i = 0; i < kinds_max - 2; ++i) {
        const auto text = "other" + std::to_string(i);
        specs.push_back({.payload = {text, false}, .kind = text});
    }
    specs.push_back({.payload = {"late", false}, .delay_ms = 3'000'000});
    for (const char* text : {"first", "a", "b"}) specs.push_back({.payload = {text, false}});
    enqueue_all(scene, page, std::move(specs));
    page.on_done = [&](const JobInfo& job, JobOutcome& outcome) {
        const auto& text = job.payload.text;
        if (text != "a" && text != "b") return;
        outcome.next.push_back({.payload = {"after " + text, false}, .kind = "new " + text});
    };
    page.queue().handle({"", "new a", "new b"});
    scene.pass(60'000);
    // Only one more kind is allowed, and so the job of the other kind is enqueued later.
    CHECK(scene.judge.begun.contains("after a"));
    CHECK(scene.judge.begun.contains("after b"));
    CHECK(scene.stored("r/new").empty());
}

}  // namespace tabacus::test
