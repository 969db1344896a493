/** What is wrong with the network and the remote systems at the moment; faults change it, every call asks it. */
import type { CallFaults } from './host/remote-call.ts';
import type { Random } from './kernel/random.ts';
import type { LineFaults } from './store/session.ts';

export interface Rates {
  /** Of calls of the store whose line breaks. */
  storeLoss: number;
  /** Of calls of the code host that get lost, on the way there or back, or an error. */
  hostTrouble: number;
  collectorTrouble: number;
  sqlTrouble: number;
}

export class Weather implements LineFaults, CallFaults {
  readonly rates: Rates = { storeLoss: 0, hostTrouble: 0, collectorTrouble: 0, sqlTrouble: 0 };
  /** Processes whose lines are slow, with the factor. */
  readonly slow = new Map<string, number>();
  /** Remote systems that do not answer. */
  readonly down = new Set<string>();
  readonly #delays: Random;
  readonly #chance: Random;

  constructor(delays: Random, chance: Random) {
    this.#delays = delays;
    this.#chance = chance;
  }

  delay(process: string, remote = 'store'): number {
    const base = remote === 'store' ? this.#delays.range(0.2, 1.5) : this.#delays.range(2, 30);
    return base * (this.slow.get(process) ?? 1);
  }

  breakWith(): 'request' | 'reply' | undefined {
    const { storeLoss } = this.rates;
    if (storeLoss === 0 || !this.#chance.chance(storeLoss)) return undefined;
    return this.#chance.chance(0.5) ? 'request' : 'reply';
  }

  trouble(_process: string, remote: string): 'request' | 'reply' | 'refused' | undefined {
    if (this.down.has(remote)) return this.#chance.chance(0.5) ? 'request' : 'refused';
    const rate = this.#rateOf(remote);
    if (rate === 0 || !this.#chance.chance(rate)) return undefined;
    return this.#chance.pick(['request', 'reply', 'refused'] as const);
  }

  /** All is well from now on. */
  clear(): void {
    Object.assign(this.rates, { storeLoss: 0, hostTrouble: 0, collectorTrouble: 0, sqlTrouble: 0 });
    this.slow.clear();
    this.down.clear();
  }

  #rateOf(remote: string): number {
    if (remote === 'host') return this.rates.hostTrouble;
    if (remote === 'collector') return this.rates.collectorTrouble;
    return remote === 'sql' ? this.rates.sqlTrouble : 0;
  }
}
