// LeaseTurnstile: where there are no Web Locks, a lease in IndexedDB with the same epochs.
//
// The lock's row says who holds it and counts the holder's renewals. Who sees the same holder and
// count for the whole length of the lease, by its own timer and not by any clock, may take it over:
// that begins a new epoch, so that a holder who was merely slow finds its writes refused. Leases of
// hidden tabs are longer, because their timers run once a minute (DESIGN §1).
//
// Beside it a second row is the line: who waits, in the order of asking, and who shares. Readers of
// several tabs hold one epoch together, which each of them renews and the last one ends. The line
// is for order, and says which reader is the last: what excludes is the lock's row, so that a line
// that is lost or nonsense costs a turn, or a lease. Who waits and does not stir is overtaken.
//
// Who lets go says so at once, from within `pagehide` too, where no transaction can be waited for;
// whoever hears it need not wait for the row. Who is not there yet finds word of it in
// localStorage. That is safe, because it begins a new epoch.
//
// Weaker than Web Locks in one way: who dies is noticed only after the lease.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lock_queue.hpp"

namespace tabacus {

class LeaseTurnstile final : public Turnstile {
  public:
    LeaseTurnstile(LockContext& context, std::string key)
        : context_(context), key_(std::move(key)) {}

    Task<std::shared_ptr<Possession>> take(Wish wish) override;
    void cancel() override;
    void let_go(const std::shared_ptr<Possession>& possession) override;
    void nudge() override;
    [[nodiscard]] bool first_in_line() const override { return true; }
    Task<Waiting> who_waits(bool is_next) override;
    Task<bool> kept_waiting() override { co_return waits_; }

  private:
    /// Who waits for the lock, or reads under it.
    struct Entry {
        enum class Kind : char { reads = 'r', waits_to_read = 's', waits = 'x' };
        Kind kind = Kind::waits;
        std::string id;
        std::string tab;
        std::int64_t beat = 0;      // counts the signs of life
        std::int64_t lease_ms = 0;  // how long it may wait between two of them
        friend bool operator==(const Entry&, const Entry&) = default;
    };
    /// Store::locks under "<name>/line": "1;grant" and then "kind;id;tab;beat;lease" of each.
    struct Line {
        std::string grant;  // whose epoch the readers share
        std::vector<Entry> entries;
        friend bool operator==(const Line&, const Line&) = default;
    };
    /// What keeps a request waiting, and for how long at most if it does not change.
    using Seen = std::map<std::string, double>;

    static std::string format(const Line& line);
    static std::optional<Line> parse(std::string_view text);
    Task<Line> read_line(Transaction& transaction);
    Task<Line> look_at_line();
    void put_line(Transaction& transaction, const Line& before, const Line& line);

    Task<std::shared_ptr<Possession>> try_now(Wish wish, std::string id, Seen& seen);
    [[nodiscard]] bool free(const std::optional<LockRow>& row, const Line& line) const;
    [[nodiscard]] Seen blockers(const std::optional<LockRow>& row, const Line& line,
                                const Wish& wish, std::string_view id) const;
    Task<LockTokens> enter(Transaction& transaction, const std::optional<LockRow>& row, Line& line,
                           Wish wish);
    [[nodiscard]] bool is_read(const std::optional<LockRow>& row, const Line& line) const;
    [[nodiscard]] bool dead(const Entry& entry) const;
    [[nodiscard]] bool stale(const std::string& state) const;
    void stand_in_line(Line& line, const Wish& wish, const std::string& id);
    void add_reader(Line& line, const std::string& id) const;
    Task<void> leave_line(std::string id);
    /// What is stale if it does not change for the length of its lease, whoever of this tab asks
    /// meanwhile, and however often.
    void remember(const Seen& seen);
    Task<void> age();
    void tell_gone(const std::string& id);
    Task<bool> hear_words();
    Task<void> remove_words(std::vector<std::string> words);
    Task<void> sweep_words();
    Task<void> leave_word(std::string id);
    /// Until the bell rings, at most.
    Task<void> wait(double delay_ms);
    Task<void> renew(std::weak_ptr<Possession> possession);
    Task<void> renew_once(std::shared_ptr<Possession> possession);
    Task<void> give_back(std::shared_ptr<Possession> possession);
    Task<void> end_lease(std::shared_ptr<Possession> possession);
    [[nodiscard]] std::int64_t lease_ms() const;
    [[nodiscard]] double look_slice_ms() const;

    LockContext& context_;
    std::string key_;
    bool cancelled_ = false;
    Completer<Unit> bell_;
    Seen sights_;             // what kept this tab waiting, and how long until it is stale
    bool aging_ = false;      // age() runs
    std::int64_t beats_ = 0;  // signs of life given in the line
    std::string waiting_;     // who waits in line here
    bool waits_ = false;      // between two looks at whether it may enter
    bool listened_ = false;   // to what was left before this page
    std::vector<std::string> words_;
};

}  // namespace tabacus
