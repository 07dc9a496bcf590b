/**
 * The server's side of counter.state() and counter.merge() (docs/sync.md): a table with one row for each counter and
 * node. If two rows compete, the one with the larger total wins.
 */

/** Creates the table. It runs once. */
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
 * Merges a state (:'state', JSON) into a counter (:'counter'). A node is one writer, and its totals only grow within
 * an epoch. So the larger of two of its rows is the later one, whichever arrives first.
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

/** The state of a counter (:'counter') for merge(). Totals are strings, since they may exceed the numbers of JSON. */
export const STATE = `
SELECT jsonb_build_object('version', 1, 'rows', coalesce(jsonb_agg(
    jsonb_build_object('node', node, 'epoch', epoch, 'plus', plus::text, 'minus', minus::text)), '[]'))
FROM counter_rows WHERE counter = :'counter';`;

/** The value of a counter (:'counter'). */
export const TOTAL = `SELECT coalesce(sum(plus - minus), 0) FROM counter_rows WHERE counter = :'counter';`;
