/**
 * Branch protection, rulesets or the repository itself differ: configuration is compared with what the branches hold now, and the
 * open pull requests are read again, because their records quote the rules.
 */
import { nothingFound } from '../../../src/driver/host-finding.ts';
import type { NotificationAbout } from '../intake/notification.ts';
import { notificationJson } from '../intake/notification.ts';
import { type EventProcessing, type GithubFinding, type GithubFound, movedAway } from './processing.ts';
import { openPullIndexes, pullFinding, recallPull } from './pull-finding.ts';

/** Reads for one change of rules, of 25 pull requests at most; those beyond are read with their own next event. */
const MOST_PAGES = 40;
/** Events after which a read takes no further pull request: each has a trace of its own, and all of them go into one commit. */
const MOST_HAPPENED = 10;

/** @throws RecordError `newer` when an upgraded process wrote the memory. */
export async function processRules(
  about: Extract<NotificationAbout, { kind: 'rules' | 'repository' }>,
  processing: EventProcessing,
): Promise<GithubFound> {
  const { event, notification, project, memory, call, deps } = processing;
  const { repository } = notification;
  const page = about.kind === 'rules' ? (about.page ?? 0) : 0;
  const after = about.kind === 'rules' ? (about.after ?? null) : null;
  deps.rulesets.forget(repository);
  const read = await deps.readOpenPulls(project, after, call);
  if (read.kind === 'later') return { later: read.later };
  if (read.kind === 'moved') return movedAway(processing, read.name);
  if (read.kind === 'gone') return nothingFound(read.text);
  deps.named?.(repository, repository);
  const indexes = openPullIndexes(memory, repository);
  const findings: GithubFinding[] = [];
  let happened = 0;
  for (const reading of read.pulls) {
    if (happened >= MOST_HAPPENED) break;
    const known = await recallPull(memory, repository, reading.pull.number);
    const finding = await pullFinding(known, reading, indexes, processing);
    happened += finding.happened.length;
    findings.push(finding);
  }
  // What is reported now is not found again, so the same page has less left each time.
  const isDone = findings.length === read.pulls.length && findings.every(each => each.again === undefined);
  const next = isDone ? read.next : after;
  const more = (!isDone || next !== null) && page + 1 < MOST_PAGES;
  return {
    happened: findings.flatMap(each => each.happened),
    changes: findings.flatMap(each => each.changes),
    memory: [...findings.flatMap(each => each.memory), ...indexes.changes()],
    ...(page === 0 ? { lookAgain: true } : {}),
    ...(more
      ? {
          again: {
            type: event.type,
            foundBy: 'other-event',
            deliveryId: `${event.deliveryId.replace(/-page-\d+$/, '').slice(0, 80)}-page-${page + 1}`,
            payload: notificationJson({
              ...notification,
              about: { kind: 'rules', ...(next === null ? {} : { after: next }), page: page + 1 },
            }),
          },
        }
      : {}),
  };
}
