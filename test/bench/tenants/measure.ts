/** A service over many tenants: its start, first without and then with stored layouts, and what it does while nothing happens. */
import { setTimeout as delay } from 'node:timers/promises';
import { createApi } from '../../../src/cmd/client/api.ts';
import type { GateAnswer } from '../gate/main.ts';
import { helperTime, startGateService } from '../gate/site.ts';
import type { TenantsSite, TenantsSize } from './site.ts';

/** Of a start, or of a time in which nothing happens. */
export interface Work {
  readonly seconds: number;
  /** Milliseconds of processor time: of the service, and of its helpers, git and jobs. */
  readonly cpu: number;
  readonly helpers: number;
  /** Milliseconds, the longest that the event loop was held. */
  readonly stall: number;
  /** By kind. */
  readonly processes: Readonly<Record<string, number>>;
  readonly transactions: number;
  readonly reads: number;
  /** Requests to the code host. */
  readonly roundTrips: number;
}

export interface TenantsService extends AsyncDisposable {
  /** Until all tenants are configured. */
  readonly start: Work;
  /** What was done since the last question, or since the start of the process. */
  since(): Promise<Work & { readonly resident: number; readonly written: GateAnswer['written'] }>;
  /** Resolves when nothing was written and asked for a while, as after the first poll of all projects. */
  quiet(): Promise<void>;
}

const NOTHING = { processes: {}, transactions: 0, reads: 0, roundTrips: 0, user: 0, system: 0, written: {} };

/** Starts it and waits until it is ready. @throws Error when a tenant or a project is missing. */
export async function startTenants(site: TenantsSite, size: TenantsSize): Promise<TenantsService> {
  await using stack = new AsyncDisposableStack();
  let last = performance.now();
  const service = stack.use(await startGateService(site.config, FLAGS));
  let [before, helpersBefore, stall] = [NOTHING as Counted, 0, service.first.stall];

  /** An answer has the longest hold since the one before. */
  async function figures(): Promise<GateAnswer> {
    const answer = await service.ask('figures');
    stall = Math.max(stall, answer.stall);
    return answer;
  }

  async function work(after: GateAnswer): Promise<Work> {
    const [begun, now] = [last, performance.now()];
    const helpers = await helperTime(after.helpers);
    const done = {
      seconds: (now - begun) / 1000,
      cpu: after.user + after.system - before.user - before.system,
      helpers: helpers - helpersBefore,
      stall,
      processes: less(after.processes, before.processes),
      transactions: after.transactions - before.transactions,
      reads: after.reads - before.reads,
      roundTrips: after.roundTrips - before.roundTrips,
    };
    [last, before, helpersBefore, stall] = [now, after, helpers, 0];
    return done;
  }

  const start = await work(service.first);
  await checkTenants(service.first.url, size);
  const owned = stack.move();
  return {
    start,
    async since() {
      const { written } = before;
      const after = await figures();
      return { ...(await work(after)), resident: after.resident, written: writtenSince(after, written) };
    },
    async quiet() {
      for (let last = -1; ; ) {
        const { transactions, roundTrips } = await figures();
        if (transactions + roundTrips === last) return;
        last = transactions + roundTrips;
        await delay(QUIET);
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Counted = Pick<GateAnswer, keyof typeof NOTHING>;

/** Milliseconds. */
const QUIET = 5_000;
/** Of Node, e.g. `--cpu-prof`. */
const FLAGS = (process.env.GATEHOUSE_BENCH_FLAGS ?? '').split(' ').filter(Boolean);

function less(after: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) {
  const kinds = Object.entries(after).map(([kind, count]) => [kind, count - (before[kind] ?? 0)] as const);
  return Object.fromEntries(kinds.filter(([, count]) => count > 0));
}

function writtenSince(after: GateAnswer, before: GateAnswer['written']): GateAnswer['written'] {
  const kinds = Object.entries(after.written).map(([what, { operations, bytes }]) => {
    const { operations: old = 0, bytes: oldBytes = 0 } = before[what] ?? {};
    return [what, { operations: operations - old, bytes: bytes - oldBytes }] as const;
  });
  return Object.fromEntries(kinds.filter(([, { operations }]) => operations > 0));
}

/** The web sees a layout a moment after the scheduler, and counts untrusted projects only. */
async function checkTenants(url: string, { tenants, projects }: TenantsSize): Promise<void> {
  const deadline = performance.now() + SEEN_WITHIN;
  for (;;) {
    const found = await createApi(url).get<readonly { readonly projects: number }[]>('/api/tenants');
    const whole = found.filter(tenant => tenant.projects === projects - 1).length;
    if (whole === tenants) return;
    if (performance.now() > deadline) throw new Error(`${whole} of ${tenants} tenants have their projects`);
    await delay(SEEN_EVERY);
  }
}

/** Milliseconds. */
const SEEN_WITHIN = 60_000;
const SEEN_EVERY = 200;
