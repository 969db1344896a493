/**
 * The service that `gate` measures, in a process of its own: one all-in-one over the embedded store, as an operator starts it, with its
 * work counted. Its parent sends a question after another and gets an answer to each; it ends with its parent.
 *
 *     node main.ts gatehouse.conf [component...]      default: all of them
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type WorkCounts, workCounts } from './count-work.ts';
import { type ProfileLine, startProfile } from './profile.ts';

/** What the parent asks for. */
export type GateQuestion = 'figures' | 'profile';

/** Counts since the start, and the profile since it was last asked for. */
export interface GateAnswer extends WorkCounts {
  readonly url: string;
  /** Milliseconds of processor time of this process. */
  readonly user: number;
  readonly system: number;
  /** The part of it that the main thread used: the event loop, without other threads and without what compiles and collects beside it. */
  readonly loop: number;
  /** Milliseconds: the longest that the event loop was held since the last answer. */
  readonly stall: number;
  /** Bytes of memory that the process holds. */
  readonly resident: number;
  /** Requests to code hosts, of events, merges, landings and notes. */
  readonly roundTrips: number;
  readonly profile?: readonly ProfileLine[];
}

await main(process.argv[2] ?? '', process.argv.slice(3));

async function main(config: string, names: readonly string[]): Promise<void> {
  // Loaded after the counters are in place.
  const { createLog } = await import('../../../src/cmd/log.ts');
  const { driverTable } = await import('../../../src/cmd/service/driver-table.ts');
  const { startService } = await import('../../../src/cmd/service/service.ts');
  const { systemClock } = await import('../../../src/lib/clock.ts');
  const { readSettings } = await import('../../../src/settings/read-settings.ts');
  const { COMPONENT_KINDS } = await import('../../../src/store/paths.ts');

  const delays = monitorEventLoopDelay({ resolution: 20 });
  delays.enable();
  let roundTrips = () => 0;
  const entries = driverTable.entries.map(entry => ({
    ...entry,
    async load() {
      const driver = await entry.load();
      const connect: typeof driver.connect = (connection, options, deps) => {
        roundTrips = () => {
          const { fetches, listings, pushes } = deps.repositories.counters();
          return fetches + listings + pushes;
        };
        return driver.connect(connection, options, deps);
      };
      return { ...driver, connect };
    },
  }));
  const read = readSettings(config, {});
  if (read.kind === 'invalid') throw new Error(read.errors.join('\n'));
  const log = createLog({ level: 'error', format: 'pretty', stream: process.stderr });
  const drivers = { ...driverTable, entries };
  const components =
    names.length === 0 ? COMPONENT_KINDS : COMPONENT_KINDS.filter(kind => names.includes(kind));
  const started = await startService(read.settings, log, components, systemClock(), drivers);
  if (started.kind === 'refused') throw new Error(started.errors.join('\n'));
  const { service } = started;
  await service.ready;

  const figures = (): GateAnswer => {
    const { user, system } = process.cpuUsage();
    const main = process.threadCpuUsage();
    const cpu = { user: user / 1000, system: system / 1000, loop: (main.user + main.system) / 1000 };
    const stall = delays.max / 1e6;
    delays.reset();
    const resident = process.memoryUsage.rss();
    return { ...workCounts(), ...cpu, stall, resident, url: service.url, roundTrips: roundTrips() };
  };
  const answer = (given: GateAnswer) => void process.send?.(given);
  let profiled: Awaited<ReturnType<typeof startProfile>> | undefined;
  process.on('message', async (question: GateQuestion) => {
    if (question === 'figures') return answer(figures());
    const profile = await profiled?.();
    profiled = profiled === undefined ? await startProfile() : undefined;
    answer({ ...figures(), ...(profile === undefined ? {} : { profile }) });
  });
  process.once('disconnect', async () => {
    await service.close();
    process.exit(0);
  });
  answer(figures());
}
