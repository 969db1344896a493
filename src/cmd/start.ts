/** `gatehouse start [component...]`: the service of this process in the foreground, until a signal or an operator ends it. */
import { flushCompileCache } from 'node:module';
import { styleText } from 'node:util';
import type { Log } from '../lib/log.ts';
import { readSettings } from '../settings/read-settings.ts';
import type { Settings } from '../settings/settings.ts';
import { COMPONENT_KINDS } from '../store/paths.ts';
import { listenToHangUps } from './hang-up.ts';
import { createLog } from './log.ts';
import { reload } from './reload.ts';
import type { ComponentName } from './service/core.ts';
import { type Service, type StartedService, startService } from './service/service.ts';
import { startFailureText } from './start-failure.ts';

/** Milliseconds a stop may take before the process ends anyway; what was acknowledged is durable. */
const STOP_LIMIT = 15_000;

/** @param components none: all of them. @returns the exit status. */
export async function start(config: string, components: readonly ComponentName[]): Promise<number> {
  const wanted = components.length === 0 ? COMPONENT_KINDS : components;
  const read = readSettings(config, process.env);
  if (read.kind === 'invalid') return refuse(read.errors);
  const { settings } = read;
  const missing = COMPONENT_KINDS.filter(component => !wanted.includes(component));
  if (settings.store.kind === 'embedded' && missing.length > 0) {
    return refuse([
      `the embedded store serves a single process, which must run all components; leave out the names (missing: ${missing.join(', ')}), or set [zookeeper] hosts to run several processes`,
    ]);
  }
  const { level, format } = settings.log;
  const log = createLog({ level, format, stream: process.stderr });
  for (const warning of read.warnings) log.warn({}, warning);
  // From here on a signal stops all that has been started.
  const signals = listenToSignals();
  using hangUps = listenToHangUps();
  let started: StartedService;
  try {
    started = await startService(settings, log, wanted);
  } catch (error) {
    const text = startFailureText(error, settings);
    if (text === undefined) throw error;
    return refuse([text]);
  }
  if (started.kind === 'refused') return refuse(started.errors);
  const { service } = started;
  hangUps.answer(() => {
    void service.reloadNodes();
    reload({
      config,
      environment: process.env,
      settings,
      log,
      adopt: tracing => service.adoptTracing(tracing),
    });
  });
  return await run(service, { settings, log, wanted, signals });
}

interface Run {
  readonly settings: Settings;
  readonly log: Log;
  readonly wanted: readonly ComponentName[];
  readonly signals: Signals;
}

async function run(service: Service, { settings, log, wanted, signals }: Run): Promise<number> {
  const { url } = service;
  service.ready.then(
    () => {
      log.info({ url, components: wanted.join(' ') }, 'ready');
      // Node writes it at the end of a process, and this one may be killed. Without NODE_COMPILE_CACHE it does nothing.
      flushCompileCache();
    },
    error => log.debug({ err: error }, 'the service ended before it was ready'),
  );
  if (wanted.includes('web')) log.info({ url }, `Gatehouse serves ${url}`);
  else log.info({}, `Gatehouse runs ${wanted.join(', ')}`);
  let status = 0;
  try {
    const signal = await Promise.race([signals.next(), service.ended]);
    if (signal === 'SIGTERM' && isGraceful(settings, wanted)) {
      log.info({ signal }, 'stopping when running builds have ended; a second signal stops immediately');
      const second = await Promise.race([signals.next(), service.stopGracefully()]);
      if (second !== undefined) log.info({ signal: second }, 'stopping immediately');
    } else if (signal !== undefined) log.info({ signal }, 'stopping');
  } catch (error) {
    status = 1;
    const text = startFailureText(error, settings);
    log.error(
      text === undefined ? { err: error } : {},
      text ?? 'a component failed permanently; the service ends',
    );
  }
  const limit = setTimeout(() => {
    log.error({}, `stopping took more than ${STOP_LIMIT / 1000} s; ending anyway`);
    process.exit(1);
  }, STOP_LIMIT);
  await service.close();
  clearTimeout(limit);
  signals.stop();
  return status;
}

/** Only executors have work worth a long wait; everything else stops cleanly right away. */
function isGraceful({ executor }: Settings, wanted: readonly ComponentName[]): boolean {
  return wanted.includes('executor') && executor.sigtermMethod === 'graceful';
}

function refuse(errors: readonly string[]): number {
  for (const error of errors)
    process.stderr.write(`${styleText('red', 'error:', { stream: process.stderr })} ${error}\n`);
  process.stderr.write(
    `${errors.length === 1 ? '1 error' : `${errors.length} errors`}; nothing was started.\n`,
  );
  return 1;
}

interface Signals {
  /** The next signal, or one that arrived earlier and was not read yet. */
  next(): Promise<string>;
  stop(): void;
}

function listenToSignals(): Signals {
  const waiting: string[] = [];
  let wake: (signal: string) => void = signal => waiting.push(signal);
  const listeners = (['SIGINT', 'SIGTERM'] as const).map(name => {
    const listener = () => wake(name);
    process.on(name, listener);
    return { name, listener };
  });
  return {
    next() {
      const [first] = waiting.splice(0, 1);
      if (first !== undefined) return Promise.resolve(first);
      return new Promise(resolve => {
        wake = signal => {
          wake = later => waiting.push(later);
          resolve(signal);
        };
      });
    },
    stop() {
      for (const { name, listener } of listeners) process.off(name, listener);
    },
  };
}
