/** `gatehouse start`: the service in the foreground, until a signal. */
import { styleText } from 'node:util';
import { readSettings } from '../settings/read-settings.ts';
import { createLog } from './log.ts';
import { type StartedService, startService } from './service/service.ts';
import { startFailureText } from './start-failure.ts';

export const COMPONENTS = ['scheduler', 'merger', 'executor', 'web'] as const;

/** Milliseconds a stop may take before the process ends anyway; what was acknowledged is durable. */
const STOP_LIMIT = 15_000;

/** @returns the exit status. */
export async function start(config: string, components: readonly string[]): Promise<number> {
  const missing = COMPONENTS.filter(component => components.length > 0 && !components.includes(component));
  if (missing.length > 0) {
    return refuse([
      `the embedded store serves one process only, so that process runs all components; leave out the names (missing: ${missing.join(', ')})`,
    ]);
  }
  const read = readSettings(config, process.env);
  if (read.kind === 'invalid') return refuse(read.errors);
  const { level, format } = read.settings.log;
  const log = createLog({ level, format, stream: process.stderr });
  for (const warning of read.warnings) log.warn({}, warning);
  let started: StartedService;
  try {
    started = await startService(read.settings, log);
  } catch (error) {
    const text = startFailureText(error, read.settings);
    if (text === undefined) throw error;
    return refuse([text]);
  }
  if (started.kind === 'refused') return refuse(started.errors);
  const { service } = started;
  service.ready.then(
    () => log.info({ url: service.url }, 'ready'),
    error => log.error({ err: error }, 'the tenants could not be configured'),
  );
  log.info({ url: service.url }, `Gatehouse serves ${service.url}`);
  const signal = await Promise.race([signalled(), service.ended]);
  log.info({ signal }, 'stopping');
  const limit = setTimeout(() => {
    log.error({}, `stopping took more than ${STOP_LIMIT / 1000} s; ending anyway`);
    process.exit(1);
  }, STOP_LIMIT);
  await service.close();
  clearTimeout(limit);
  return 0;
}

function refuse(errors: readonly string[]): number {
  for (const error of errors)
    process.stderr.write(`${styleText('red', 'error:', { stream: process.stderr })} ${error}\n`);
  process.stderr.write(
    `${errors.length === 1 ? '1 error' : `${errors.length} errors`}; nothing was started.\n`,
  );
  return 1;
}

function signalled(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve(signal));
  });
}
