/** Times a round to another tab and back: by two counters, or by two messages of a BroadcastChannel. */

// @ts-ignore: served by the benchmarks' server
import { open } from '/dist/web/tabacus.js';

/**
 * The pause between two rounds of either kind, in which the work that a round leaves is done. It is longer than the
 * frame of 16 ms in which a tab announces its increments together: only the first one of a frame is sent at once.
 */
const PAUSE_MS = 25;

/** @type {import('tabacus').ReplicatedCounter} */
let ping;
/** @type {import('tabacus').ReplicatedCounter} */
let pong;
const channel = new BroadcastChannel('bare');

async function start() {
    const tab = await open({ namespace: 'latency' });
    [ping, pong] = [tab.counter('ping'), tab.counter('pong')];
}

/** The part of the other tab. */
async function answer() {
    await start();
    let known = ping.value;
    ping.subscribe((value) => {
        if (value > known) pong.add(1);
        known = value;
    });
    channel.onmessage = ({ data }) => channel.postMessage(data);
}

/** @type {() => void} */
let onNews = () => {};

async function ask() {
    await start();
    let known = pong.value;
    pong.subscribe((value) => {
        if (value > known) onNews();
        known = value;
    });
    channel.onmessage = () => onNews();
}

/**
 * @param {number} rounds
 * @param {() => void} send
 * @returns {Promise<number[]>} milliseconds
 */
async function measure(rounds, send) {
    const samples = [];
    for (let i = 0; i < rounds; i++) {
        const began_ms = performance.now();
        const answered = new Promise((resolve) => {
            onNews = () => resolve(performance.now());
        });
        send();
        samples.push((await answered) - began_ms);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    return samples;
}

/** @param {number} rounds */
const channelRounds = (rounds) => measure(rounds, () => channel.postMessage(1));
/** @param {number} rounds */
const counterRounds = (rounds) => measure(rounds, () => void ping.add(1));

Object.assign(globalThis, { bench: { answer, ask, channelRounds, counterRounds } });
