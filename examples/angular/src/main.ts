import { Component, OnDestroy, OnInit, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { open, Tab } from 'tabacus';

@Component({
    selector: 'app-clicks',
    template: `
        <main>
            <h1>One counter in every tab</h1>
            <output id="count">{{ count() ?? '…' }}</output>
            <p>
                <button id="add" [disabled]="!tab()" (click)="add()">Add one</button>&ngsp;
                <button id="run" [disabled]="!tab()" (click)="run()">Take the lock</button>
            </p>
            <p>
                The lock: <span id="lock">{{ lock() }}</span>. Open this page in a second tab.
            </p>
        </main>
    `,
})
class Clicks implements OnInit, OnDestroy {
    readonly tab = signal<Tab | undefined>(undefined);
    readonly count = signal<number | undefined>(undefined);
    readonly lock = signal('free');

    async ngOnInit() {
        const tab = await open({ namespace: 'example' });
        tab.counter('clicks').subscribe((value) => this.count.set(value));
        this.tab.set(tab);
    }

    ngOnDestroy() {
        this.tab()?.close();
    }

    add() {
        this.tab()?.counter('clicks').add();
    }

    run() {
        this.tab()
            ?.lock('door')
            .run(({ token }) => this.lock.set(`held once, with token ${token}`));
    }
}

bootstrapApplication(Clicks);
