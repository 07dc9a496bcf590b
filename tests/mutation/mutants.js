/**
 * Planted faults, each with the one test that must kill it: who weakens a test, or changes code so
 * that a fault no longer shows, hears of it here. `npm run mutate` runs them.
 */

const SYNC = 'wasm/include/tabacus/sync';
const PROTOCOL = 'wasm/src/protocol';

/** @typedef {import('../../scripts/lib/mutant.js').Mutant} Mutant */

/** A lock's or counter's header, tried by the tests of its kind. */
const MUTEX = { file: `${SYNC}/mutex.hpp`, compiles: ['tests/native/sync_mutex.cpp'] };
/** @param {string} header */
const counters = (header) => ({ file: `${SYNC}/${header}`, compiles: ['tests/native/sync_counters.cpp'] });

/** What threads share besides, in rooms. @param {string} header @param {string} test */
const room = (header, test) => ({ file: `${SYNC}/${header}`, compiles: [`tests/native/sync_${test}.cpp`] });

/** @type {Mutant[]} */
const ROOMS = [
    {
        ...room('room.hpp', 'storage'),
        name: 'room-without-repair',
        fault: 'what a dead thread left undone stays so',
        find: 'if (mutex_.take_over(dead, self)) {\n            table().repair();',
        replace: 'if (mutex_.take_over(dead, self)) {',
        test: 'storage table: whoever is killed inside, the next one finds it whole',
    },
    {
        ...room('storage_table.hpp', 'storage'),
        name: 'storage-lose-the-old-value',
        fault: 'a value that does not fit takes the place of the old one',
        find: 'if (equal || bytes_ - less + more > quota_bytes_) {',
        replace: 'if (equal) {',
        test: 'storage table: what does not fit leaves the old value',
    },
    {
        ...room('storage_table.hpp', 'storage'),
        name: 'storage-full-to-the-last-block',
        fault: 'a full storage has no room to look a key up',
        find: 'if (enough()) return true;',
        replace: 'if (make_space(count)) return true;',
        test: 'storage table: however full it is, what is there is found and can be removed',
    },
    {
        ...room('storage_table.hpp', 'storage'),
        name: 'storage-changes-silently-lost',
        fault: 'after a repair nobody hears that changes may be missed',
        find: 'kept_ = 0;\n        buckets_.fill(0);',
        replace: 'buckets_.fill(0);',
        test: 'storage table: whoever is killed inside, the next one finds it whole',
    },
    {
        ...room('lock_table.hpp', 'locks'),
        name: 'locks-of-the-dead',
        fault: 'what a dead thread held is let go of, and nobody is granted it',
        find: 'at_ref = next;\n        }\n        process_all();',
        replace: 'at_ref = next;\n        }',
        test: 'shared locks: a thread that dies lets go, and waits no more',
    },
];

/** @type {Mutant[]} */
const SHARED_MEMORY = [
    {
        ...MUTEX,
        name: 'notify-nobody',
        fault: 'an unlock wakes no sleeper',
        find: '        wake_next();',
        replace: '',
        test: 'an unlock with a sleeper notifies',
    },
    {
        ...MUTEX,
        name: 'relock-as-uncontended',
        fault: 'who was woken takes the mutex as if nobody else slept',
        find: 'const std::uint32_t mine = slept ? held(self) | contended_bit : held(self);',
        replace: 'const std::uint32_t mine = held(self);',
        test: 'a step after sleeping takes the mutex as contended',
    },
    {
        ...MUTEX,
        name: 'sleep-without-end',
        fault: 'who waits sleeps until it is woken, also when its wake-up went to a dead thread',
        find: 'std::int64_t rest_ns = Parks::sleep_max_ns;',
        replace: 'std::int64_t rest_ns = forever_ns;',
        test: 'a wake-up that goes to a dead thread is missed for one sleep only',
    },
    {
        ...MUTEX,
        name: 'notify-always',
        fault: 'an uncontended unlock notifies too',
        find: 'if (word_.compare_exchange_strong(word, 0)) return Unlock::released;',
        replace: 'if (word_.compare_exchange_strong(word, 0)) return wake_next(), Unlock::released;',
        test: 'an uncontended lock and unlock neither parks nor notifies',
    },
    {
        ...MUTEX,
        name: 'unlock-by-anybody',
        fault: 'an unlock does not ask who the owner is',
        find: 'if (word != (held(self) | contended_bit)) return Unlock::not_owner;',
        replace: '',
        test: 'who does not hold it cannot unlock it',
    },
    {
        ...MUTEX,
        name: 'wake-one-of-two-queues',
        fault: 'an unlock wakes one only, although asynchronous waiters are queued',
        find: 'Parks::unpark_all(word_);',
        replace: 'Parks::unpark_one(word_);',
        test: 'with asynchronous waiters queued an unlock wakes everybody',
    },
    {
        ...counters('checked.hpp'),
        name: 'wrap',
        fault: 'an overflow wraps around instead of being refused',
        find: 'if (__builtin_add_overflow(value, n, &sum) || !limit.allows(sum)) {',
        replace: 'if (__builtin_add_overflow(value, n, &sum), !limit.allows(value)) {',
        test: 'an add beyond a limit is refused and changes nothing - AtomicCounter',
    },
    {
        ...counters('atomic_counter.hpp'),
        name: 'store-in-place-of-exchange',
        fault: 'an add stores what it has read, whatever came between',
        find: 'if (value_.compare_exchange_weak(value, next.value)) return next;',
        replace: 'return value_.store(next.value), next;',
        test: "the article's program is exact - AtomicCounter",
    },
    {
        ...counters('striped_counter.hpp'),
        name: 'sum-open-cells',
        fault: 'the cells of a striped counter are moved to its base without being closed',
        find: 'for (Cell& cell : cells_) cell.word.fetch_or(closed_bit);',
        replace: '',
        test: 'a striped counter is exact across closing and opening its cells',
    },
    {
        ...counters('striped_counter.hpp'),
        name: 'sum-across-a-move',
        fault: 'a sum does not notice that the cells have moved to the base meanwhile',
        find: 'if (epoch_.load() == epoch) return total;',
        replace: 'return total;',
        test: 'a sum read while cells are closed misses nothing',
    },
];

/** @param {string} file */
const of = (file) => ({ file: `${PROTOCOL}/${file}` });

/** @type {Mutant[]} */
const PROTOCOLS = [
    {
        ...of('replica_commit.cpp'),
        name: 'skip-the-fence',
        fault: 'a commit does not claim its slot in its own transaction',
        find: 'transaction->claim(subject_of_slot(slot_), format_holder(*holder_));',
        replace: '',
        test: 'replicated: who is robbed and has not heard of it is fenced by its own commit',
    },
    {
        ...of('replica_slot.cpp'),
        name: 'skip-the-epoch',
        fault: 'an adoption does not raise the epoch',
        find: 'co_return epoch + 1;',
        replace: 'co_return std::max<std::int64_t>(epoch, 1);',
        test: 'replicated: a robbed slot fences its former owner, and nothing counts twice',
    },
    {
        ...of('replica_slot.cpp'),
        name: 'drop-the-liveness-lock',
        fault: 'the lowest slot is taken whether its lock was granted or not',
        find: 'if (slot_lock_) co_return;\n    }\n    co_await fail',
        replace: 'co_return;\n    }\n    co_await fail',
        test: 'replicated: three tabs that count at once lose nothing',
    },
    {
        ...of('replica_slot.cpp'),
        name: 'hold-while-idle',
        fault: 'an idle replica keeps the lock that bars its page from the back/forward cache',
        find: '&& !dirty()) slot_lock_.reset();',
        replace: '&& !dirty()) {}',
        test: 'replicated: a page with an idle counter is always fit for the back/forward cache',
    },
    {
        ...of('replica_slot.cpp'),
        name: 'deaf-at-rest',
        fault: 'a replica that rests does not hear of the new owner of its row',
        find: 'if (epoch <= row_epoch_ || !resting()',
        replace: 'if (epoch <= row_epoch_ || resting()',
        test: 'replicated: a page that rests hears of who adopted its slot, and takes another',
    },
    {
        ...of('replica_slot.cpp'),
        name: 'double-a-commit',
        fault: 'a commit of unknown outcome is written again although it happened',
        find: 'if (happened && commit.row == row_) {',
        replace: 'if (false) {',
        test: 'replicated: connections dropped at any moment leave no commit lost or doubled',
    },
    {
        ...of('replica_slot.cpp'),
        name: 'believe-a-commit',
        fault: 'a commit of unknown outcome counts as done although it did not happen',
        find: 'if (happened && commit.row == row_) {',
        replace: 'if (commit.row == row_) {',
        test: 'replicated: connections dropped at any moment leave no commit lost or doubled',
    },
    {
        ...of('replica_commit.cpp'),
        name: 'lose-the-baseline',
        fault: "an adopted slot's row begins again at zero",
        find: 'base = record->totals;',
        replace: 'base = {};',
        test: 'replicated: a tab killed at any moment loses nothing flushed, nothing counts twice',
    },
    {
        ...of('replica_commit.cpp'),
        name: 'ignore-the-mirror',
        fault: 'a row that a crash took back is not brought forward from the mirror',
        find: 'if (mirrored) base = larger(base, mirrored->totals);',
        replace: '',
        test: 'crash of the browser: a mirror newer than the database is the base of the slot\'s row',
    },
    {
        ...of('replica_commit.cpp'),
        name: 'heal-by-adding',
        fault: 'the mirror is added to the row instead of taken where it is larger',
        find: 'if (mirrored) base = larger(base, mirrored->totals);',
        replace: 'if (mirrored) base = base + mirrored->totals;',
        test: 'replicated: a tab killed at any moment loses nothing flushed, nothing counts twice',
    },
    {
        ...of('replica_commit.cpp'),
        name: 'flush-at-once',
        fault: 'flush waits for no commit',
        find: 'if (state.committed_through >= target) co_return;',
        replace: 'co_return;',
        test: 'replicated: a tab killed at any moment loses nothing flushed, nothing counts twice',
    },
    {
        ...of('replica_commit.cpp'),
        name: 'gather-late',
        fault: 'a transaction that waited writes newer totals than the one begun after it',
        find: 'line.totals = line.totals + line.state->base;',
        replace: 'line.totals = line.state->attempted;',
        test: 'replicated: hidden and frozen tabs delay, and lose nothing',
    },
    {
        ...of('ledger.cpp'),
        name: 'trust-the-channel',
        fault: 'what was announced and never stored is believed for ever',
        find: 'if (++row.looks >= looks_max) {',
        replace: 'if (false) {',
        test: 'hostile messages: never a lasting wrong value, and never stored',
    },
    {
        ...of('replica_news.cpp'),
        name: 'own-row-from-the-channel',
        fault: "a stranger may speak of this tab's own row",
        find: 'if (own && !give_up_row(message.record.epoch)) return;',
        replace: '',
        test: 'hostile messages: never a lasting wrong value, and never stored',
    },
    {
        ...of('replica_heal.cpp'),
        name: 'silent-loss',
        fault: 'a vanished database is told to nobody: its generation is not looked at',
        find: 'if (other || browser_says_so) {',
        replace: 'if (false) {',
        test: 'lost database: every tab that knew the former one is told',
    },
    {
        ...of('replica.cpp'),
        name: 'no-range',
        fault: 'increments beyond the exact integers are taken',
        find: 'if (value > value_max || value < -value_max) return false;',
        replace: '',
        test: 'out of range: refused at both ends, and nothing changes',
    },
    {
        ...of('transactional.cpp'),
        name: 'transaction-without-read',
        fault: 'the transactional counter adds to what it saw last',
        find: 'checked_add(current.value_or(0), n)',
        replace: 'checked_add(value(), n)',
        test: 'transactional never loses, and every read is exact',
    },
];

const COMPETING = 'what a strategy promises it keeps while tabs only compete';

/** @type {Mutant[]} */
const CATALOGUE = [
    {
        ...of('optimistic.cpp'),
        name: 'write-any-version',
        fault: 'the optimistic counter writes whatever the version is',
        find: 'if (stored.version != seen.version) co_return false;',
        replace: '',
        test: COMPETING,
    },
    {
        ...of('lamport.cpp'),
        name: 'no-second-look',
        fault: 'who finds y free enters, whether x is still its own or not',
        find: 'if (co_await storage.get(x_) == me) co_return me;',
        replace: 'co_return me;',
        test: 'lamport is exact when every tab is faster than its delay and sees writes at once',
    },
    {
        ...of('eventual.cpp'),
        name: 'hear-old-news',
        fault: 'news that is in the baseline is added once more',
        find: ' || *before < total.baseline) return;',
        replace: ') return;',
        test: COMPETING,
    },
    {
        ...of('entry_log.cpp'),
        name: 'count-what-is-folded',
        fault: 'entries that a fold covers are counted beside it',
        find: 'tab.entries.upper_bound(covered); entry != tab.entries.end(); ++entry) {\n        sum',
        replace: 'tab.entries.begin(); entry != tab.entries.end(); ++entry) {\n        sum',
        test: 'log: folding and counting at once loses nothing and counts nothing twice',
    },
    {
        ...of('log.cpp'),
        name: 'remove-too-much',
        fault: 'an entry that the fold does not cover is removed',
        find: 'if (number <= covered) co_await',
        replace: 'if (number <= covered + 1) co_await',
        test: 'log: folding and counting at once loses nothing and counts nothing twice',
    },
    {
        ...of('log.cpp'),
        name: 'lock-in-the-cache',
        fault: 'a page keeps its liveness lock when it is hidden for good',
        find: 'liveness_.reset();',
        replace: '',
        test: 'log holds no lock while its page is in the back/forward cache',
    },
    {
        ...of('delta_rows.cpp'),
        name: 'fold-twice',
        fault: 'rows stay although they were folded into the sum',
        find: 'for (const auto& key : found.rows) transaction.remove(Store::deltas, key);',
        replace: '',
        test: 'deltas folds its rows',
    },
    {
        ...of('deltas.cpp'),
        name: 'count-own-twice',
        fault: 'an own delta that a count has seen is added once more',
        find: 'std::erase_if(uncounted_, [&](const auto& own) { return own.first <= count.after; });',
        replace: '',
        test: 'every strategy counts exactly when one adds after another',
    },
    {
        ...of('batched.cpp'),
        name: 'leave-it-gathered',
        fault: 'a page that is left takes what it gathered with it',
        find: 'event == LifecycleEvent::page_hide) {',
        replace: 'false) {',
        test: 'batched writes what it gathered when its page is hidden or left',
    },
    {
        ...of('batched.cpp'),
        name: 'forget-what-failed',
        fault: 'what a full store refused is dropped',
        find: 'gathered_ += n;\n            failure',
        replace: 'failure',
        test: 'batched keeps what a full store refused, and tells',
    },
];

/** @type {Mutant[]} */
const LIMITS = [
    {
        ...of('sequence.cpp'),
        name: 'begin-anew',
        fault: 'a sequence whose row vanished begins at 1 again',
        find: 'if (found.vanished) base = co_await floor();',
        replace: '',
        test: 'limits: a sequence outlives its database, as long as localStorage or a tab does',
    },
    {
        ...of('budget.cpp'),
        name: 'spend-what-went-back',
        fault: 'rights that are on their way back into a budget can still be spent',
        find: 'const auto amount = std::exchange(left_, 0);\n    if (amount == 0 && !row_)',
        replace: 'const auto amount = left_;\n    if (amount == 0 && !row_)',
        test: 'limits: a budget is never overspent, whatever happens to tabs',
    },
    {
        ...of('rate_limit.cpp'),
        name: 'believe-the-wall',
        fault: 'a tab that comes anew believes its wall clock although others have watched the time',
        find: 'if (!alone) co_return false;',
        replace: '',
        test: 'limits: no window holds more than the limit, whatever tabs and their clocks do',
    },
    {
        ...of('rate_limit.cpp'),
        name: 'tell-late',
        fault: 'a grant is told however long its commit took',
        find: '(round.life != life_ || now() > round.tell_until)',
        replace: 'false',
        test: 'limits: no window holds more than the limit, whatever tabs and their clocks do',
    },
    {
        ...of('rate_limit.cpp'),
        name: 'take-back-what-was-told',
        fault: 'a grant that was told is taken out of the row as if nobody had been told',
        find: 'if (untold_.count > 0) --untold_.count;',
        replace: '',
        test: 'limits: no window holds more than the limit, whatever tabs and their clocks do',
    },
    {
        ...of('limit_store.cpp'),
        name: 'unseen',
        fault: 'who makes a row does not look for others that have seen one',
        find: 'if (seen) seen_.insert(key);',
        replace: '(void)seen;',
        test: 'limits: no schedule of two tabs repeats an id or overspends, nor with a fault',
    },
    {
        ...of('lock_turnstile.cpp'),
        name: 'shut-the-gate',
        fault: 'the gate stays shut behind who could not take the lock',
        find: 'auto gate = std::exchange(gate_, nullptr);\n    if (!taken) {',
        replace: 'std::unique_ptr<HeldLock> gate;\n    if (taken) gate = std::exchange(gate_, nullptr);\n    if (!taken) {',
        test: 'lock: who cannot be given a token is told why, and keeps nobody from the lock',
    },
];

/** @type {Mutant[]} */
const LOCKS = [
    {
        ...of('lock_queue.cpp'),
        name: 'last-come-first-served',
        fault: 'a request goes to the head of its tab’s queue: what a serial promises',
        find: 'waiting_.push_back(waiter);',
        replace: 'waiting_.push_front(waiter);',
        test: 'lock: three tabs with two requests each get it, in their orders, one at a time',
    },
    {
        ...of('lock_serve.cpp'),
        name: 'answer-nobody-who-tries',
        fault: 'a holder does not answer who would not wait, which then waits for its own timers',
        find: 'context_.post(LockMessage::Kind::busy, key_, {message.tab, detail[1]});',
        replace: '',
        test: 'lock: who would not wait is answered by the holder, and need not wait for its timers',
    },
    {
        ...of('lock_serve.cpp'),
        name: 'stand-with-who-tries',
        fault: 'who asks behind one that would not wait stands in line after that one only',
        find: 'if (taking_) return true;',
        replace: '',
        test: 'lock: who asks behind one that would not wait is not overtaken meanwhile',
    },
    {
        ...of('lock_turnstile.cpp'),
        name: 'wait-for-who-is-behind',
        fault: 'who stands behind the own place in line keeps the own readers out',
        find: 'is_next ? Waiting::behind : Waiting::before',
        replace: 'Waiting::before',
        test: 'lock: a reader waits for nobody who is behind its own tab’s place',
    },
    {
        ...of('lock_serve.cpp'),
        name: 'forget-who-is-behind',
        fault: 'who stands behind the own place in line is taken for gone',
        find: 'waiting == Waiting::behind && rival.wants >= place->number',
        replace: 'waiting == Waiting::behind && rival.wants == 0',
        test: 'lock: a reader waits for nobody who is behind its own tab’s place',
    },
    {
        ...of('lock_serve.cpp'),
        name: 'hide-what-was-stolen',
        fault: 'who would not wait is not told that a thief has the lock',
        find: '(in_use || stolen) && detail',
        replace: 'in_use && detail',
        test: 'lock: nor for those of a tab that holds by stealing',
    },
    {
        ...of('lock_serve.cpp'),
        name: 'linger-before-who-is-behind',
        fault: 'a tab goes on for ever before who stands behind its place in line and could not say so',
        find: 'waiting != Waiting::nobody || !rivals_.empty()',
        replace: 'waiting == Waiting::before || !rivals_.empty()',
        test: 'lock: who cannot say that it waits waits for one slice of the tab before it at most',
    },
    {
        ...of('lock_epochs.cpp'),
        name: 'commit-when-deposed',
        fault: 'a holder that slept through its lease writes although a newer grant has begun',
        find: '|| row->fence > tokens.first ||',
        replace: '||',
        test: 'lease: a holder that slept through its lease is refused, and told',
    },
    {
        ...of('lock_leader.cpp'),
        name: 'leave-what-is-given-up',
        fault: 'a call that its caller has given up is run, and committed',
        find: 'if (call->key ? open : open && !take_back) co_return std::nullopt;',
        replace: 'if (open) co_return std::nullopt;',
        test: 'leader: the same when a tab is killed, frozen or cached at any moment',
    },
    {
        ...of('lock_leader.cpp'),
        name: 'answer-the-newest',
        fault: 'a leader takes the newest call first',
        find: 'found = LeaderCall{std::move(id), std::move(request->value)};\n                break;',
        replace: 'found = LeaderCall{std::move(id), std::move(request->value)};\n                continue;',
        test: 'lock leader: calls are answered in their order, and their rows are cleared away',
    },
    {
        ...of('lock_leader.cpp'),
        name: 'answer-twice',
        fault: 'the answer does not take the place of the call, which the next leader runs again',
        find: 'own.transaction().remove(Store::locks, where);',
        replace: '',
        test: 'leader: terms rise, and each call of three tabs is committed once and ends',
    },
    {
        ...of('lock_leader.cpp'),
        name: 'answer-for-ever',
        fault: 'the answer to a call of a key is the answer for ever',
        find: 'if (same && !outdated(*call, world_.clock().now_ms())) co_return;',
        replace: 'if (same) co_return;',
        test: 'lock leader: calls of one key are one call for an hour after its answer',
    },
];

/** What tabs of an emulated origin may rely on. */
const EMULATED = { file: 'wasm/src/lab/emulator/emulated_origin.cpp' };

/** @type {Mutant[]} */
const EMULATOR = [
    {
        ...EMULATED,
        name: 'emulator-tell-the-writer',
        fault: 'a document hears of its own write',
        find: ' || context == write.writer) continue;',
        replace: ') continue;',
        test: 'an event goes to every other document, once its process has the write (HTML 12.2.1)',
    },
    {
        ...EMULATED,
        name: 'emulator-tell-of-nothing',
        fault: 'an equal write is an event',
        find: 'if (!write.changes) continue;',
        replace: '',
        test: 'an event goes to every other document, once its process has the write (HTML 12.2.1)',
    },
    {
        ...EMULATED,
        name: 'emulator-one-session',
        fault: 'every tab hears of a sessionStorage',
        find: 'if (id != 0 && hearer.session != id) continue;',
        replace: '',
        test: "a session is its tab's and its frames', and copied once (HTML 12.2.2)",
    },
    {
        ...EMULATED,
        name: 'emulator-hold-for-ever',
        fault: 'who is gone keeps its locks',
        find: 'to_manager(context, [this, context] { locks_.end(context); });',
        replace: '',
        test: 'who is gone holds nothing, asks for nothing and hears nothing (Web Locks 2.6)',
    },
    {
        ...EMULATED,
        name: 'emulator-all-writes-arrive',
        fault: 'no write of a killed process is lost',
        find: 'scheduler_.truncate({Source::Kind::outgoing, killed.process, 0}, writes_kept);',
        replace: '(void)writes_kept;',
        test: "of a killed process's writes the first arrive, as many as are kept",
    },
    {
        ...EMULATED,
        name: 'emulator-frozen-runs',
        fault: 'a frozen tab goes on',
        find: 'if (!runner.active || runner.cached) continue;',
        replace: 'if (runner.cached) continue;',
        test: 'a frozen tab hears later, a cached one never what was posted meanwhile (HTML 9.5)',
    },
    {
        ...EMULATED,
        name: 'emulator-cached-hears',
        fault: 'a page in the back/forward cache hears later what was posted meanwhile',
        find: 'if (agent(receiver).cached) continue;',
        replace: '',
        test: 'a frozen tab hears later, a cached one never what was posted meanwhile (HTML 9.5)',
    },
    {
        ...EMULATED,
        name: 'emulator-cache-a-holder',
        fault: 'a page that holds a lock is kept',
        find: 'if (locks_.holds_any(static_cast<ContextId>(i + 1))) return false;',
        replace: '',
        test: 'a page that holds a lock is not kept in the back/forward cache',
    },
    {
        ...EMULATED,
        name: 'emulator-youngest-first',
        fault: 'calmly, what was begun last happens first',
        find: '? a.cause < b.cause :',
        replace: '? a.cause > b.cause :',
        test: 'calmly: the oldest first, and time passes when nothing else can happen',
    },
];


/** @type {Mutant[]} */
const QUEUES = [
    {
        ...of('queue_rows.cpp'),
        name: 'begin-once-more',
        fault: 'a job to run at most once is given back when its worker is lost',
        find: 'if (last.at_most_once || last.lost_workers',
        replace: 'if (last.lost_workers',
        test: 'queue: at most once, no job begins twice, whoever dies',
    },
    {
        ...of('queue_work.cpp'),
        name: 'claim-what-is-claimed',
        fault: 'a slot takes jobs that another slot runs',
        find: 'for (const auto& entry : slot->entries) busy.insert(entry.id);',
        replace: '',
        test: 'queue: killed tabs lose no job, and none is settled twice',
    },
    {
        ...of('queue_work.cpp'),
        name: 'trust-the-slot',
        fault: 'a worker does not look whether its slot was taken over',
        find: '(!claim.fresh && last_turn != claim.turn)',
        replace: 'false',
        test: 'queue: who is robbed of its slot, and has not heard of it, settles nothing',
    },
    {
        ...of('queue_work.cpp'),
        name: 'remove-what-is-between',
        fault: 'jobs that another slot runs leave with those around them',
        find: 'const bool ranges = claim.gapless && !edited;',
        replace: 'const bool ranges = !edited;',
        test: 'queue: what is claimed together leaves together, and nothing that runs between it',
    },
    {
        ...of('queue_rows.cpp'),
        name: 'come-first-unseen',
        fault: 'claims pass over a job that comes before those that were there',
        find: 'kind->first = std::min(kind->first, place.substr(place.size() - order_digits));',
        replace: '',
        test: 'queue: short jobs in two slots, some failing, delayed or cancelled, end once each',
    },
    {
        ...of('queue_work.cpp'),
        name: 'settle-the-cancelled',
        fault: 'a job that was cancelled while it ran is settled all the same',
        find: 'const bool edited = rows.head.edits != claim.edits;',
        replace: 'const bool edited = false;',
        test: 'queue: of a job that was cancelled while it ran nothing counts, whoever has not heard',
    },
];

export const MUTANTS = [...SHARED_MEMORY, ...ROOMS, ...PROTOCOLS, ...CATALOGUE, ...LIMITS, ...LOCKS, ...EMULATOR, ...QUEUES];
