/**
 * Commands in comments: a line such as `/gatehouse dequeue` by a person who may write to the repository. A reaction to the comment says
 * that it is understood; it is repeatable, and GitHub's failure to take it changes nothing. A question is answered by a comment:
 * reporting/answer-comment.ts.
 */
import type { HostLater } from '../../../src/driver/host-later.ts';
import type { HostPromote } from '../../../src/driver/source.ts';
import type { Change } from '../../../src/model/change.ts';
import type { PullAbout } from '../intake/notification.ts';
import type { EventProcessing, GithubFinding } from './processing.ts';
import { readMayWrite } from './read-permission.ts';

/** The first line that is a command. */
const COMMAND = /^[ \t]*\/gatehouse[ \t]+(\S+)[ \t]*\r?$/m;
/** Characters of an unknown command that are repeated. */
const LONGEST_SHOWN = 40;

type Effect = Pick<GithubFinding, 'dequeues' | 'promotes' | 'questions'>;
type CommandFound = (Effect & Pick<GithubFinding, 'refusals'>) | { readonly later: HostLater };

/** What a person may ask for, by the command's word. */
const EFFECTS = new Map<string, (request: HostPromote) => Effect>([
  ['dequeue', request => ({ dequeues: [request] })],
  ['promote', request => ({ promotes: [request] })],
  ['why', request => ({ questions: [request] })],
]);

/** @param about a comment that was not processed before, or something else, which has no command. */
export async function commentCommand(
  about: PullAbout,
  change: Change,
  processing: EventProcessing,
): Promise<CommandFound> {
  const { notification, call, deps } = processing;
  const command = COMMAND.exec(about.comment ?? '')?.[1];
  if (command === undefined) return {};
  const by = notification.actor;
  const permission = await readMayWrite(by, call, deps.api);
  if (permission.kind === 'later') return { later: permission.later };
  const effect = permission.kind === 'may' ? EFFECTS.get(command) : undefined;
  await react(about, effect === undefined ? 'confused' : '+1', processing);
  if (effect !== undefined) return effect({ change: change.key, by });
  const refusal = permission.kind === 'may' ? unknownText(command) : permission.text;
  return { refusals: [{ change, text: `a comment of ${by} is without effect: ${refusal}` }] };
}

function unknownText(command: string): string {
  const known = [...EFFECTS.keys()].map(each => `/gatehouse ${each}`).join(', ');
  return `/gatehouse ${command.slice(0, LONGEST_SHOWN)} is not known; known are ${known}`;
}

async function react(
  { commentId }: PullAbout,
  content: '+1' | 'confused',
  { call, deps }: EventProcessing,
): Promise<void> {
  if (commentId === undefined) return;
  await deps.api.rest(
    'reactions/create-for-issue-comment',
    'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions',
    { comment_id: commentId, content },
    { ...call, weight: 'notice' },
  );
}
