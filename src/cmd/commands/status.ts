/** `gatehouse status`: the queues, once or continuously. */
import type { Command } from 'commander';
import { didYouMean } from '../../lib/nearest-name.ts';
import { pause } from '../../lib/pause.ts';
import { ApiError } from '../client/api.ts';
import { currentView, type FollowedTenant, followTenant } from '../client/follow.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { createScreen } from '../terminal/screen.ts';
import { type Refused, refused } from './refused.ts';
import { type AskOptions, addAskOptions, type Session, withTenantService } from './session.ts';
import { statusLines } from './status-text.ts';

interface StatusOptions extends AskOptions {
  readonly pipeline?: string;
  readonly watch?: boolean;
}

/** Milliseconds between two pictures when nothing changes but the time. */
const TICK = 1000;

const EXAMPLES = `
Examples:
  gatehouse status
  gatehouse status --watch --pipeline gate
  gatehouse status --json | jq '.items[] | {uuid, state: .state.name}'

An item's last column is the beginning of its uuid: enough for "gatehouse trace" and "gatehouse explain".`;

/**
 * @param done gets the exit status: 1 when the tenant has no such pipeline. Once it shows a picture, `--watch` goes on through
 * failures and ends with 0 at Ctrl-C.
 */
export function addStatusCommand(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('status'))
    .summary('show the queues of all pipelines')
    .description(
      'Shows the queues of all pipelines: items in order, their state and the time in it, their jobs, and the reasons for retests.',
    )
    .option('-p, --pipeline <name>', 'only this pipeline')
    .option('-w, --watch', 'keep the picture up to date until Ctrl-C')
    .addHelpText('after', EXAMPLES)
    .action(async (options: StatusOptions) =>
      done(await withTenantService(io, options, session => status(session, options))),
    );
}

async function status(session: Session, { pipeline, watch }: StatusOptions): Promise<number | Refused> {
  const view = await currentView(session.api, session.tenant);
  const names = view.pipelines.map(({ name }) => name);
  if (pipeline !== undefined && !names.includes(pipeline)) {
    return refused(
      `tenant ${session.tenant} has no pipeline "${pipeline}"${didYouMean(pipeline, names) || `; it has: ${names.join(', ') || 'none'}`}`,
    );
  }
  if (watch === true) return watchStatus(session, pipeline);
  if (session.json) printJson(session.io, jsonOf(view, pipeline));
  else print(session.io, picture(session, view, view.sentAt, pipeline).join('\n'));
  return 0;
}

function picture(
  { api, tenant, style }: Session,
  view: FollowedTenant,
  now: number,
  pipeline: string | undefined,
): readonly string[] {
  return statusLines(view, {
    ...style(),
    tenant,
    root: api.root,
    now,
    ...(pipeline === undefined ? {} : { pipeline }),
  });
}

/** The documents of the page, with the items as a list in the order of their queues. */
function jsonOf(view: FollowedTenant, wanted: string | undefined) {
  const pipelines = view.pipelines.filter(({ name }) => wanted === undefined || name === wanted);
  const uuids = pipelines.flatMap(({ queues }) => queues.flatMap(({ items }) => items));
  return { tenant: view.tenant, pipelines, items: uuids.flatMap(uuid => view.items.get(uuid) ?? []) };
}

/** On a terminal a picture redrawn in place; elsewhere a picture, or a line of JSON, for each change. */
async function watchStatus(session: Session, pipeline: string | undefined): Promise<number> {
  const { io, api, tenant } = session;
  const signal = io.interrupted();
  const screen = createScreen(io.stdout);
  let view: FollowedTenant | undefined;
  let trouble: string | undefined;
  let receivedAt = 0;
  const draw = () => {
    if (view === undefined) return;
    const now = view.sentAt + (io.clock.monotonic() - receivedAt);
    screen.frame([
      ...picture(session, view, now, pipeline),
      ...(trouble === undefined ? [] : ['', `! ${trouble}; trying again`]),
    ]);
  };
  const live = screen.live && !session.json;
  const ticking = live ? setInterval(draw, TICK) : undefined;
  try {
    while (!signal.aborted) {
      try {
        for await (const next of followTenant(api, tenant, signal)) {
          [view, trouble, receivedAt] = [next, undefined, io.clock.monotonic()];
          if (session.json) print(io, JSON.stringify(jsonOf(view, pipeline)));
          else if (live) draw();
          else print(io, `${picture(session, view, view.sentAt, pipeline).join('\n')}\n`);
        }
        trouble = `the service at ${api.root} closed the connection`;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        trouble = error.message;
      }
      if (!live && !signal.aborted) io.stderr.write(`${trouble}; trying again\n`);
      await pause(TICK, signal);
    }
  } finally {
    clearInterval(ticking);
  }
  return 0;
}
