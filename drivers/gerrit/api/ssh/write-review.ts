/**
 * Reviews and submits by `gerrit review`. Comments on lines cannot be given: no file of a patch set takes them (read-queried.ts), so that
 * they stand in the message. Its form with JSON on standard input would take them, and ends without an exit status on a real Gerrit 3.9.
 */
import { isMapping } from '../../../../src/driver/read-mapping.ts';
import type { Json } from '../../../../src/model/job.ts';
import type { SshRan } from '../../ssh/ssh-session.ts';
import { sshWord } from '../../ssh/ssh-word.ts';
import type { GerritCarried } from '../carrier.ts';
import { mappingsOf } from '../info-json.ts';
import type { GerritRaw } from '../send.ts';
import { queryChange, served } from './read-queried.ts';
import type { SshAsked, SshCarrierDeps } from './ssh-asked.ts';
import { refusedOverSsh, refusedReview } from './ssh-refused.ts';

/** `changes/N/revisions/COMMIT/review`. The answer names the labels that the change has now from us. */
export async function postReview(asked: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  const options = optionsOf(asked.body);
  if (options.length === 0) return served({ labels: {} }, { bytes: 0 });
  const named = await patchsetName(asked, deps);
  if (typeof named !== 'string') return named;
  const line = ['gerrit', 'review', ...options, named].map(sshWord).join(' ');
  const ran = await deps.session.run({ line, deadlineMs: deps.deadlinesMs.write }, asked.signal);
  const refused = refusalOf(ran, 400);
  return refused ?? (await labelsTaken(asked, deps));
}

/** Empty: there is nothing to write. */
function optionsOf(body: Json | undefined): readonly string[] {
  const { message, tag, notify } = isMapping(body) ? body : {};
  const said = [
    ...(typeof message === 'string' ? ['--message', message] : []),
    ...Object.entries(votesIn(body)).flatMap(([label, value]) => ['--label', `${label}=${value}`]),
  ];
  if (said.length === 0) return [];
  return [
    ...said,
    ...(typeof tag === 'string' ? ['--tag', tag] : []),
    ...(typeof notify === 'string' ? ['--notify', notify] : []),
  ];
}

/** `changes/N/revisions/COMMIT/submit` */
export async function postSubmit(asked: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  const named = await patchsetName(asked, deps);
  if (typeof named !== 'string') return named;
  const ran = await deps.session.run(
    { line: `gerrit review --submit ${named}`, deadlineMs: deps.deadlinesMs.write },
    asked.signal,
  );
  return refusalOf(ran, 409) ?? served({}, { bytes: 0 });
}

/** `12,3`, which commands take. Nothing has been written when it is not found. */
async function patchsetName(asked: SshAsked, deps: SshCarrierDeps): Promise<string | GerritRaw> {
  const [number = '', commit = ''] = asked.parts;
  const known = deps.patchsets.get(number, commit);
  if (known !== undefined) return known;
  const found = await queryChange(asked, ['--patch-sets'], deps);
  if (found.kind === 'silent') return { ...found, isSent: false };
  if (found.kind === 'answered' && found.status >= 500)
    return { kind: 'silent', reason: 'unreachable', text: found.body, isSent: false };
  if (found.kind !== 'row') return found;
  return deps.patchsets.get(number, commit) ?? refusedOverSsh(404, `Not found: ${commit}`);
}

function refusalOf(ran: SshRan, usual: number): GerritRaw | undefined {
  if (ran.kind === 'silent') return ran;
  return ran.code === 0 ? undefined : refusedReview(ran.complaint, usual);
}

/** Milliseconds before the votes are read again: the index may be behind. */
const PAUSES = [0, 500, 1_000] as const;

/**
 * Gerrit drops a label that the change does not have, and says nothing. So the votes are read; a vote of 0 cannot be seen, and counts as
 * taken, and so does every vote where they cannot be read: the review is written.
 */
async function labelsTaken(asked: SshAsked, deps: SshCarrierDeps): Promise<GerritCarried> {
  const wanted = votesIn(asked.body);
  const open = new Map(Object.entries(wanted).filter(([, value]) => value !== 0));
  for (const ms of open.size === 0 ? [] : PAUSES) {
    if (ms > 0) await deps.pause(ms, asked.signal);
    asked.signal.throwIfAborted();
    const found = await queryChange(asked, ['--patch-sets', '--all-approvals'], deps);
    if (found.kind !== 'row') return served({ labels: wanted }, { bytes: 0 });
    const patchset = mappingsOf(found.row.patchSets, 10_000).find(
      ({ revision }) => revision === asked.parts[1],
    );
    for (const { type, value, by } of mappingsOf(patchset?.approvals, 10_000)) {
      const isOurs = isMapping(by) && by.username === deps.username;
      if (isOurs && typeof type === 'string' && open.get(type) === Number(value)) open.delete(type);
    }
    if (open.size === 0) break;
  }
  const taken = Object.entries(wanted).filter(([label]) => !open.has(label));
  return served({ labels: Object.fromEntries(taken) }, { bytes: 0 });
}

function votesIn(body: Json | undefined): { readonly [label: string]: number } {
  const labels = isMapping(body) && isMapping(body.labels) ? Object.entries(body.labels) : [];
  return Object.fromEntries(labels.map(([label, value]) => [label, Number(value)]));
}
