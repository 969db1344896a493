/** `gatehouse open`: the page of an item, a build, or the tenant, in a browser. */
import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { ApiError } from '../client/api.ts';
import { type Io, print } from '../terminal/io.ts';
import { CHANGE_ARGUMENT, findItem } from './find-item.ts';
import type { Refused } from './refused.ts';
import {
  type AskOptions,
  addAskOptions,
  itemAddress,
  type Session,
  tenantPath,
  withTenantService,
} from './session.ts';

interface OpenOptions extends AskOptions {
  readonly pipeline?: string;
  readonly print?: boolean;
}

const EXAMPLES = `
Examples:
  gatehouse open
  gatehouse open . master/login
  gatehouse open 3832c7a4d82fbf2e6cc9850569e5ce9b --print

The address is always printed. A browser opens on a terminal of a desktop: $BROWSER, else xdg-open or open.`;

/** @param done gets the exit status: 1 when there is no such item or build. */
export function addOpenCommand(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('open'))
    .summary('open the page of an item or a build')
    .description(
      'Prints the address of a page and opens it in a browser where there is one: of an item, a build or the tenant.',
    )
    .argument(
      '[item]',
      'uuid of an item or a build, the first digits of an item, or a project, "." for that of the checkout',
    )
    .argument('[change]', CHANGE_ARGUMENT)
    .option('-p, --pipeline <name>', 'with a change: its newest item in this pipeline')
    .option('--print', 'only print the address')
    .addHelpText('after', EXAMPLES)
    .action(async (item: string | undefined, change: string | undefined, options: OpenOptions) =>
      done(await withTenantService(io, options, session => open(session, item, change, options))),
    );
}

async function open(
  session: Session,
  item: string | undefined,
  change: string | undefined,
  options: OpenOptions,
): Promise<number | Refused> {
  const address = await addressOf(session, item, change, options.pipeline);
  if (typeof address === 'object') return address;
  print(session.io, session.json ? JSON.stringify({ address }) : address);
  const browser = options.print === true ? undefined : browserOf(session.io);
  if (browser !== undefined) show(session.io, browser, address);
  return 0;
}

async function addressOf(
  session: Session,
  item: string | undefined,
  change: string | undefined,
  pipeline: string | undefined,
): Promise<string | Refused> {
  const page = `${session.api.root}/t/${encodeURIComponent(session.tenant)}`;
  if (item === undefined) return page;
  if (change === undefined && /^[0-9a-f]{32}$/.test(item) && (await isBuild(session, item)))
    return `${page}/build/${item}`;
  const found = await findItem(session, item, change, pipeline);
  return found.kind === 'refused' ? found : itemAddress(session, found.uuid);
}

async function isBuild(session: Session, uuid: string): Promise<boolean> {
  try {
    await session.api.get(tenantPath(session, `build/${uuid}`));
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

/** The program that opens an address; undefined: there is no desktop, or no person to look. */
export function browserOf({ stdout, environment }: Pick<Io, 'stdout' | 'environment'>): string | undefined {
  const { BROWSER = '', DISPLAY = '', WAYLAND_DISPLAY = '' } = environment;
  if (stdout.isTTY !== true) return undefined;
  if (BROWSER !== '') return BROWSER;
  if (process.platform === 'darwin') return 'open';
  return DISPLAY === '' && WAYLAND_DISPLAY === '' ? undefined : 'xdg-open';
}

/** Does not wait for it. */
function show({ stderr }: Io, program: string, address: string): void {
  const browser = spawn(program, [address], { detached: true, stdio: 'ignore' });
  browser.on('error', error => stderr.write(`warning: cannot start ${program}: ${error.message}\n`));
  browser.unref();
}
