/** Topics: which open changes one has, and whether Gerrit submits them in one go (`change.submitWholeTopic`). */
import { isMapping } from '../../../src/driver/read-mapping.ts';
import type { FoundChanges } from '../../../src/driver/source.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import type { ConnectionName } from '../../../src/model/project.ts';
import type { GerritAnswer, GerritApi, GerritCall } from '../api/port.ts';
import { listedOpenChanges } from './open-changes.ts';

/** In the memory of one process. */
export interface TopicSubmission {
  /** Asked for at most every ten minutes: an administrator may change it. */
  submitsTopics(call: GerritCall): Promise<GerritAnswer<boolean>>;
}

const KEPT_MS = 600_000;

export function createTopicSubmission({
  api,
  clock,
  notedTopics,
}: {
  readonly api: GerritApi;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Called with each answer. */
  readonly notedTopics?: (submitsTopics: boolean) => void;
}): TopicSubmission {
  let known: { readonly whole: boolean; readonly at: number } | undefined;
  return {
    async submitsTopics(call) {
      if (known !== undefined && clock.monotonic() - known.at < KEPT_MS)
        return { kind: 'ok', status: 200, data: known.whole };
      const at = clock.monotonic();
      const answer = await api.ask(
        { operation: 'config/info', method: 'GET', path: 'config/server/info' },
        call,
      );
      if (answer.kind !== 'ok') return answer;
      const { change } = isMapping(answer.data) ? answer.data : {};
      const whole = isMapping(change) && change.submit_whole_topic === true;
      known = { whole, at };
      notedTopics?.(whole);
      return { ...answer, data: whole };
    },
  };
}

/** One query. A topic that no query can quote has no other changes as far as we see. */
export async function changesOfGerritTopic(
  topic: string,
  most: number,
  call: GerritCall,
  { api, connection }: { readonly api: GerritApi; readonly connection: ConnectionName },
): Promise<GerritAnswer<FoundChanges>> {
  const quoted = quotedTopic(topic);
  if (quoted === undefined) return { kind: 'ok', status: 200, data: { changes: [], isMore: false } };
  const path = `changes/?q=${encodeURIComponent(`status:open topic:${quoted}`)}&n=${most + 1}`;
  const answer = await api.ask({ operation: 'changes/query', method: 'GET', path }, call);
  if (answer.kind !== 'ok') return answer;
  const changes = listedOpenChanges(answer.data, most + 1, connection);
  return { ...answer, data: { changes: changes.slice(0, most), isMore: changes.length > most } };
}

/** Gerrit's queries quote with `"` or with braces. */
function quotedTopic(topic: string): string | undefined {
  if (!topic.includes('"')) return `"${topic}"`;
  return /[{}]/.test(topic) ? undefined : `{${topic}}`;
}
