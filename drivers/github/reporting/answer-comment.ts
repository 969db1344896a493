/**
 * The answer to `/gatehouse why`: one comment on the pull request, edited with each answer, so that questions leave no trail. It is found
 * again by its author and a hidden first line; one that was deleted is written anew.
 */

import type { Answerer, AnswerOutcome, AnswerRequest } from '../../../src/driver/answerer.ts';
import { gatherSteps } from '../../../src/driver/host-steps.ts';
import { createLru } from '../../../src/git/support/lru.ts';
import { cutAtLine } from '../../../src/lib/cut-text.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import type { KnownComments } from './known-comments.ts';
import { LONGEST_BODY } from './longest-body.ts';
import { markdownText } from './markdown-text.ts';
import { findComment, putComment } from './own-comment.ts';
import { isGone, outcomeOfRefusal, pullNumberOf } from './report-context.ts';

const MARKER = '<!-- gatehouse answer -->';
/** For the marker, the line about who asked, and the fences. */
const ROOM = 1_000;

/** Remembers the comments that it wrote. */
export function createGithubAnswerer({
  api,
  known: knownComments,
}: {
  readonly api: GithubApi;
  readonly known: Pick<KnownComments, 'seen'>;
}): Answerer {
  const comments = createLru<string, number>(10_000);
  return {
    async answer(request, signal, mayAct): Promise<AnswerOutcome> {
      const { steps, add } = gatherSteps();
      const outcome = await answerWith(request, { signal, mayAct, steps: add });
      return { ...outcome, ...(steps.length === 0 ? {} : { steps }) };
    },
  };

  async function answerWith(
    request: AnswerRequest,
    acting: Pick<GithubCall, 'signal' | 'mayAct' | 'steps'>,
  ): Promise<AnswerOutcome> {
    const { change } = request;
    const pull = pullNumberOf(change);
    if (pull === undefined) return { kind: 'failed', text: 'only pull requests have comments' };
    const repository = projectIdOf(change.project).name;
    const calls = {
      api,
      known: knownComments,
      call: (weight: 'notice') => ({ repository, weight, ...acting }),
    };
    const write = async (id: number | undefined) => {
      const answer = await putComment(pull, id, commentBody(request), calls);
      if (answer.kind === 'ok') comments.set(change.key, Number(answer.data.id));
      return answer;
    };
    const known = comments.get(change.key);
    if (known !== undefined) {
      const answer = await write(known);
      if (!isGone(answer)) return outcomeOf(answer);
      comments.delete(change.key);
    }
    const identity = await api.identity(calls.call('notice'));
    if (identity.kind !== 'ok') return outcomeOf(identity);
    const found = await findComment(pull, identity.data.login, MARKER, calls);
    return outcomeOf(found.kind === 'ok' ? await write(found.data?.id) : found);
  }
}

/** A lost answer is tried again, too: the next try finds the comment. */
function outcomeOf(answer: GithubAnswer<unknown>): AnswerOutcome {
  return answer.kind === 'ok' ? { kind: 'done' } : outcomeOfRefusal(answer, 'the answer');
}

function commentBody({ by, text }: AnswerRequest): string {
  // A run of backticks would end the fence.
  const quoted = text.replaceAll('```', "'''");
  const shown = cutAtLine(quoted, LONGEST_BODY - ROOM, '…');
  return [MARKER, `Asked by ${markdownText(by)}:`, '', '```text', shown, '```'].join('\n');
}
