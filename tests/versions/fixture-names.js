/** The names in a fixture. Many have characters outside of ASCII, and some have characters that keys escape. */

export const names = {
    namespace: 'lager – 倉庫',
    visits: 'Besuche',
    stock: 'bestand/größe 100%\0',
    catalogue: '計数器',
    folded: 'gefaltet',
    cart: 'warenkorb/🛒\0',
    carts: 'körbe',
    mine: 'meiner',
    shapes: 'formen',
    atDeath: 'zuletzt',
    heldAtDeath: 'im Griff',
    semaphore: 'leitungen ½',
    once: 'jeton d’accès',
    leader: 'Ōsama',
    receipts: 'belege',
    answered: 'bestellung №1',
    open: 'bestellung №2',
    sequence: 'αριθμός',
    gapless: 'lückenlos',
    budget: 'бюджет',
    rate: 'débit/s',
    work: 'aufträge',
    deadKey: 'tot/%2F',
    paused: 'angehalten ⏸',
    lost: 'läuft',
};

/** The options of the queues, which must be the same in all tabs. */
export const queueOptions = /** @type {const} */ ({
    work: { attempts: 2, backOff: 0 },
    paused: {},
    lost: {},
});

/** The strategies of the catalogue, which are all but the default. */
export const strategies = /** @type {const} */ ([
    'naive',
    'log',
    'lamport',
    'eventual',
    'transactional',
    'locked',
    'optimistic',
    'deltas',
    'batched',
]);

/** The wall clock of the browser in which a fixture is written. */
export const start_ms = Date.UTC(2026, 10, 25, 12);
