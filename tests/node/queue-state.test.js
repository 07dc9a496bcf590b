/** The state of a queue as users see it is computed from the reports of the program. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportFrom, stateFrom } from '../../js/queue/queue-state.js';

const running = { id: 'b-1', key: 'k', kind: 'kind', tab: 'tab', attempt: 1, fraction: -1, note: '' };
const state = { size: 3, running: [running], done: 4, failed: 5, paused: false };

/** The fields of a report that concerns no single job. */
const whole = { id: '', key: '', kind: '', tab: 'tab', attempt: 0, fraction: -1, note: '' };

/**
 * @param {import('../../js/queue/queue-state.js').QueueState['type']} type
 * @param {object} job
 * @param {object} [more]
 */
function reported(type, job, more = {}) {
    const report = { type, job: { ...whole, ...job }, error: '', final: false, state, ...more };
    return reportFrom(/** @type {any} */ (report));
}

const seen = {
    size: 3,
    queued: 2,
    running: [{ ...running, fraction: undefined, note: undefined }],
    done: 4,
    failed: 5,
    paused: false,
};

test('in a state, jobs that do not run are queued, and a job without progress, note or key has undefined there', () => {
    assert.deepEqual(stateFrom(state), { ...seen, type: 'state' });
    const other = { ...running, key: '', fraction: 0, note: 'a note' };
    const { running: jobs, queued } = stateFrom({ ...state, size: 0, running: [other] });
    assert.deepEqual(jobs, [{ ...other, key: undefined }]);
    assert.equal(queued, 0);
});

test('a report of the whole queue names no job', () => {
    assert.deepEqual(reported('paused', {}), { ...seen, type: 'paused', tab: 'tab' });
});

test('a report of a job has what its type says, and nothing else', () => {
    const about = { ...seen, tab: 'tab', id: 'b-1', key: 'k', kind: 'kind' };
    assert.deepEqual(reported('done', running), { ...about, type: 'done' });
    assert.deepEqual(reported('queued', { ...running, key: '' }), {
        ...about,
        type: 'queued',
        key: undefined,
    });
    assert.deepEqual(reported('running', running), { ...about, type: 'running', attempt: 1 });
    const progress = reported('progress', { ...running, fraction: 0.5, note: 'half' });
    assert.deepEqual(progress, { ...about, type: 'progress', fraction: 0.5, note: 'half' });
    const failed = reported('failed', running, { error: '{"value":7}', final: true });
    assert.deepEqual(failed, { ...about, type: 'failed', error: 7, final: true });
});

test('the progress of a job that this tab does not know has no kind', () => {
    const { kind, key } = reported('progress', { id: 'b-1', fraction: 0.5 });
    assert.deepEqual([kind, key], [undefined, undefined]);
});
