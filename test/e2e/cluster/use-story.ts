/** One cluster for all tests of a file, which come one after the other: processes that were hurt in one must be well in the next. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Story } from './story-cluster.ts';

/** Milliseconds a loaded machine may need to start everything. */
const START_LIMIT = 150_000;

/** @returns what was opened, once the first test runs. */
export function useStory<S extends Story>(open: () => Promise<S>): () => S {
  let story: S | undefined;
  beforeAll(async () => {
    story = await open();
  }, START_LIMIT);
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail' || story === undefined) return;
    process.stderr.write(`${story.cluster.describe()}\n`);
    // The next test shall judge its own story.
    for (const each of story.cluster.processes) {
      if (each.pid === undefined) await each.start();
      else each.thaw();
    }
  });
  afterAll(async () => {
    await story?.[Symbol.asyncDispose]();
  });
  return () => {
    if (story === undefined) throw new Error('the cluster was not opened');
    return story;
  };
}
