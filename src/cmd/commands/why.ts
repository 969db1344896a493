/** `gatehouse why`: the decisions about a change, each with its reason. */
import type { Command } from 'commander';
import type { LiveItem } from '../../api/live-item.ts';
import { toMilliseconds } from '../../lib/clock.ts';
import { didYouMean } from '../../lib/nearest-name.ts';
import type { Decision } from '../../model/decision.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { namedProject } from './checkout-project.ts';
import { liveItemOf, newestBuildset } from './find-item.ts';
import { type Refused, refused } from './refused.ts';
import { type AskOptions, addAskOptions, type Session, tenantPath, withTenantService } from './session.ts';
import { whyLines } from './why-text.ts';

interface WhyOptions extends AskOptions {
  readonly pipeline?: string;
}

const EXAMPLES = `
Examples:
  gatehouse why acme/app master/login
  gatehouse why acme/app master/login --pipeline gate
  gatehouse why acme/app refs/heads/master      (the last push)

Newest event first; below each event one line per pipeline of the tenant: + entered, - not entered, and why.`;

/** @param done gets the exit status: 1 when the tenant lacks the project or pipeline, or no event has named the change. */
export function addWhyCommand(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('why'))
    .summary('show why a change is, or is not, in a pipeline')
    .description(
      'Shows the effect of every event on a change: the pipelines that took it, those that did not and why, its progress there, and its jobs.',
    )
    .argument('<project>', 'name of the project, e.g. acme/app; "." is that of the checkout')
    .argument('<change>', 'the change, e.g. master/login, or a ref')
    .option('-p, --pipeline <name>', 'only this pipeline')
    .addHelpText('after', EXAMPLES)
    .action(async (project: string, change: string, options: WhyOptions) =>
      done(
        await withTenantService(io, options, async session => {
          const named = await namedProject(session, project);
          return typeof named === 'string' ? why(session, named, change, options) : named;
        }),
      ),
    );
}

async function why(
  session: Session,
  project: string,
  change: string,
  { pipeline }: WhyOptions,
): Promise<number | Refused> {
  const unknown = await unknownName(session, project, pipeline);
  if (unknown !== undefined) return unknown;
  const decisions = (await decisionsOf(session, project, change)).filter(
    each => pipeline === undefined || each.pipeline === pipeline,
  );
  const item = await itemOf(session, project, change, decisions, pipeline);
  if (session.json) {
    printJson(session.io, { tenant: session.tenant, project, change, decisions, item: item ?? null });
    return 0;
  }
  if (decisions.length === 0 && item === undefined) {
    const where = pipeline === undefined ? '' : ` in pipeline ${pipeline}`;
    return refused(
      `no event has named ${project} ${change}${where}; was it pushed, and does the connection see it?`,
    );
  }
  const now = toMilliseconds(session.io.clock.now());
  print(session.io, whyLines({ project, change, decisions, item }, { ...session.style(), now }).join('\n'));
  return 0;
}

/** Refuses a project or pipeline that the tenant does not have: its history would just be empty. */
async function unknownName(
  session: Session,
  project: string,
  pipeline: string | undefined,
): Promise<Refused | undefined> {
  const projects = await session.api.get<
    readonly { readonly name: string; readonly connection_name: string }[]
  >(tenantPath(session, 'projects'));
  if (
    !projects.some(
      ({ name, connection_name }) => project === name || project === `${connection_name}/${name}`,
    )
  ) {
    const names = projects.map(({ name }) => name);
    return refused(
      `tenant ${session.tenant} has no project "${project}"${didYouMean(project, names) || `; it has: ${names.join(', ') || 'none'}`}`,
    );
  }
  if (pipeline === undefined) return undefined;
  const names = (
    await session.api.get<readonly { readonly name: string }[]>(tenantPath(session, 'pipelines'))
  ).map(({ name }) => name);
  if (names.includes(pipeline)) return undefined;
  return refused(
    `tenant ${session.tenant} has no pipeline "${pipeline}"${didYouMean(pipeline, names) || `; it has: ${names.join(', ') || 'none'}`}`,
  );
}

async function decisionsOf(session: Session, project: string, change: string): Promise<readonly Decision[]> {
  const isRef = change.startsWith('refs/') && !change.includes('@');
  const path = pathOf(isRef ? await lastUpdate(session, project, change) : change);
  const { decisions } = await session.api.get<{ readonly decisions: readonly Decision[] }>(
    tenantPath(session, `changes/${path}/decisions?${new URLSearchParams({ project })}`),
  );
  return decisions;
}

/** Each update of a ref is a change named by ref and commit: the queued one, else the last one that was queued. */
async function lastUpdate(session: Session, project: string, ref: string): Promise<string> {
  const live = await session.api.get<readonly LiveAnswer[]>(
    tenantPath(session, `status/change/${pathOf(ref)}`),
  );
  const newest = live
    .filter(({ refs }) => refs.some(each => project.endsWith(each.project)))
    .toSorted((a, b) => b.enqueue_time - a.enqueue_time)[0];
  const commit = newest?.refs.find(each => each.ref === ref)?.id;
  if (commit !== undefined) return `${ref}@${commit === '' ? 'deleted' : commit}`;
  const update = (await newestBuildset(session, project, ref))?.refs.find(each => each.ref === ref);
  return update === undefined ? ref : `${ref}@${update.newrev ?? 'deleted'}`;
}

interface LiveAnswer {
  readonly enqueue_time: number;
  readonly refs: readonly { readonly id: string; readonly ref: string; readonly project: string }[];
}

function pathOf(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/');
}

/** The change's live item, else its last one. */
async function itemOf(
  session: Session,
  project: string,
  change: string,
  decisions: readonly Decision[],
  pipeline: string | undefined,
): Promise<LiveItem | undefined> {
  const last = decisions.findLast(({ item }) => item !== null)?.item ?? undefined;
  const uuid =
    (await liveItemOf(session, project, change, pipeline)) ??
    last ??
    (await newestBuildset(session, project, change, pipeline))?.gatehouse.item;
  return uuid === undefined ? undefined : session.api.get<LiveItem>(tenantPath(session, `item/${uuid}`));
}
