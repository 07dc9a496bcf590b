/**
 * The server's side of counter.state() and counter.merge(), as docs/sync.md explains it: a table of one row
 * for each counter and node, of which the larger total wins.
 */

/** Once. */
export const TABLE = `
CREATE TABLE IF NOT EXISTS counter_rows (
    counter text NOT NULL,
    node text NOT NULL,
    epoch bigint NOT NULL,
    plus bigint NOT NULL,
    minus bigint NOT NULL,
    PRIMARY KEY (counter, node)
);`;

/**
 * Takes a state (:'state', JSON) of a counter (:'counter') in. A node is one writer whose totals only grow
 * within an epoch: of two of its rows the larger is the later, whichever comes first.
 */
export const JOIN = `
INSERT INTO counter_rows AS known
    SELECT DISTINCT ON (node) :'counter', node, epoch, plus, minus
    FROM jsonb_to_recordset(:'state'::jsonb -> 'rows')
        AS sent (node text, epoch bigint, plus bigint, minus bigint)
    WHERE node ~ '^[0-9a-z]{1,32}/[0-9a-z]{1,32}$' AND least(epoch, plus, minus) >= 0
    ORDER BY node, epoch DESC, plus DESC, minus DESC
ON CONFLICT (counter, node) DO UPDATE
    SET epoch = excluded.epoch, plus = excluded.plus, minus = excluded.minus
    WHERE (excluded.epoch, excluded.plus, excluded.minus) > (known.epoch, known.plus, known.minus);`;

/** The state of a counter (:'counter') for merge(): counts as texts, since they may exceed JSON's numbers. */
export const STATE = `
SELECT jsonb_build_object('version', 1, 'rows', coalesce(jsonb_agg(
    jsonb_build_object('node', node, 'epoch', epoch, 'plus', plus::text, 'minus', minus::text)), '[]'))
FROM counter_rows WHERE counter = :'counter';`;

/** What it comes to. */
export const TOTAL = `SELECT coalesce(sum(plus - minus), 0) FROM counter_rows WHERE counter = :'counter';`;
