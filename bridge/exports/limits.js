/** The calls of the piece `limits`: sequences, budgets and rate limits. */

/** @typedef {import('../exports.js').ExportedCall} ExportedCall */

/** @type {ExportedCall[]} */
export const limits = [
    {
        name: 'limits_close',
        doc: 'Gives the unspent rights of this tab back to their budgets.',
        target: 'coordination.limits().close',
        answers: 'nothing',
        always: true,
    },
    {
        name: 'limits_durable',
        doc: 'Returns whether limits hold over tabs.',
        target: 'coordination.limits().limits().durable',
        returns: 'bool',
    },
    {
        name: 'sequence_new',
        doc: 'Returns the sequence of a name.',
        target: 'coordination.limits().sequence',
        params: { name: 'text', block: 'int64', gapless: 'bool' },
        returns: 'Sequence*',
    },
    {
        name: 'sequence_next',
        doc: 'Returns the next number, or 0 if sequence_reserve() must reserve it.',
        target: 'sequence.next_now',
        params: { sequence: 'Sequence&' },
        returns: 'int64',
        raw: true,
    },
    {
        name: 'sequence_reserve',
        doc: 'Reserves numbers. Answers the first one.',
        target: 'coordination.limits().reserve',
        params: { sequence: 'Sequence&', count: 'int64' },
        answers: 'number',
    },
    {
        name: 'budget_new',
        doc: 'Returns the budget of a name.',
        target: 'coordination.limits().budget',
        params: { name: 'text', limit: 'int64' },
        returns: 'Budget*',
    },
    {
        name: 'budget_take',
        doc: 'Takes n of the rights that this tab holds. Returns false if it holds fewer; then budget_ask() takes them.',
        target: 'budget.take_now',
        params: { budget: 'Budget&', n: 'int64' },
        returns: 'bool',
        raw: true,
    },
    {
        name: 'budget_ask',
        doc: 'Takes n from the budget if there are as many. Answers whether it did.',
        target: 'coordination.limits().take',
        params: { budget: 'Budget&', n: 'int64' },
        answers: 'bool',
    },
    {
        name: 'budget_give',
        doc: 'Gives n back to the budget.',
        target: 'coordination.limits().give',
        params: { budget: 'Budget&', n: 'int64' },
        answers: 'nothing',
    },
    {
        name: 'budget_available',
        doc: 'Returns the best-known remainder of the budget.',
        target: 'budget.available',
        params: { budget: 'Budget&' },
        returns: 'int64',
        raw: true,
    },
    {
        name: 'budget_refresh',
        doc: 'Reads the remainder of the budget.',
        target: 'coordination.limits().refresh',
        params: { budget: 'Budget&' },
        answers: 'nothing',
    },
    {
        name: 'rate_new',
        doc: 'Returns the rate limit of a name.',
        target: 'coordination.limits().rate_limit',
        params: { name: 'text', limit: 'int64', interval_ms: 'int64' },
        returns: 'RateLimit*',
    },
    {
        name: 'rate_take',
        doc: 'Waits until the limit allows another call.',
        target: 'coordination.limits().pass',
        params: { rate: 'RateLimit&', timeout_ms: 'number?', request: 'int' },
        answers: 'nothing',
    },
    {
        name: 'rate_try',
        doc: 'Takes a permit for a call if the limit allows one now. Answers whether it did.',
        target: 'coordination.limits().try_pass',
        params: { rate: 'RateLimit&' },
        answers: 'bool',
    },
    {
        name: 'rate_abort',
        doc: 'Aborts a request that waits.',
        target: 'coordination.limits().abort',
        params: { request: 'int' },
    },
];
