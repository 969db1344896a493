/** In every sentence a change has its author's name (`org/project master/A`), never its key in the store. */
import path from 'node:path';
import { openHistory } from '../../src/history/history.ts';
import { projectIdOf } from '../../src/model/project.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';

/**
 * Sentences of the records of these items, and of the decisions about their changes, that have a key in them.
 *
 * @param state directory of the service.
 */
export async function keysInSentences(
  state: string,
  tenant: string,
  items: readonly QueueItem[],
): Promise<readonly string[]> {
  const changes = items.flatMap(item => item.changes);
  const connections = new Set(changes.map(({ project }) => projectIdOf(project).connection));
  const key = new RegExp(`(^|[^\\w/])(${[...connections].join('|')})/\\S+(#|@refs/)\\S`);
  const history = await openHistory({ kind: 'sqlite', path: path.join(state, 'history.sqlite') });
  try {
    const sentences = items.flatMap(item => sentencesIn(item));
    for (const change of new Set(changes.map(each => each.key)))
      sentences.push(...(await history.decisions({ tenant, change })).map(({ text }) => text));
    return [...new Set(sentences)]
      .filter(text => key.test(text))
      .map(text => `a change is called by its key: ${text}`);
  } finally {
    await history.close();
  }
}

/** Of a merge commit: for programs. */
const TRAILER = /^Change: .*$/m;

/** A text with a space is a sentence; keys, names and paths have none, but for a key and a uuid. */
function sentencesIn(value: unknown): string[] {
  if (typeof value === 'string')
    return value.includes(' ') && !/^\S+ [0-9a-f]{32}$/.test(value) ? [value.replace(TRAILER, '')] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(sentencesIn);
}
