/**
 * Test files share their process, and with it the modules they import: a file that starts the service costs a third less where
 * another has loaded it before. So each file must leave the process as it found it. What it may not leave behind fails it here, by
 * name, instead of a later file at random.
 */
import { afterAll, expect, vi } from 'vitest';
import './resolve-beside.ts';

/** What runs or listens on behalf of a test; sockets and timers of shared pools are not among them. */
const RUNNING = new Set(['ProcessWrap', 'TCPServerWrap', 'PipeServerWrap', 'FSEventWrap', 'StatWatcher']);

/** Globals that libraries set once. */
const LIBRARIES: ReadonlySet<string> = new Set(['regeneratorRuntime', 'awslambda']);

// Before the file is imported: this module runs for each file.
const found = look();

// Registered before the hooks of the file, and so called after them.
afterAll(async () => {
  await vi.waitFor(() => expect(differences(found, look())).toEqual([]), { timeout: 5_000, interval: 20 });
});

function look(): ReadonlyMap<string, unknown> {
  const running = process.getActiveResourcesInfo().filter(kind => RUNNING.has(kind));
  return new Map<string, unknown>([
    ...Object.entries(process.env).map(([name, value]) => [`environment variable ${name}`, value] as const),
    ...globalNames().map(name => [`global ${name}`, true] as const),
    ...process
      .eventNames()
      .map(name => [`handlers of ${String(name)}`, process.listenerCount(name)] as const),
    ...[...Map.groupBy(running, kind => kind)].map(([kind, all]) => [`open ${kind}`, all.length] as const),
    ['working directory', process.cwd()],
    ['umask', process.umask()],
    ['fake timers', vi.isFakeTimers()],
  ]);
}

/** Those with two underscores belong to libraries, which set them once, as what mqtt and the SDK of AWS are built with set these. */
function globalNames(): readonly string[] {
  const all = Object.getOwnPropertyNames(globalThis);
  return all.filter(name => !name.startsWith('__') && !LIBRARIES.has(name));
}

/** Names only: what is in the environment is for no log. */
function differences(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter(name => before.get(name) !== after.get(name));
}
