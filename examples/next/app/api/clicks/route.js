import { open } from 'tabacus';

/** Counts requests in this process: a server has no tabs, and keeps its counters in memory. */
export async function GET() {
    const tab = await open({ namespace: 'server' });
    const requests = tab.counter('requests').add();
    return Response.json({ requests, store: tab.capabilities.store });
}
