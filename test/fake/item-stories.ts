/** Whole lives of queue items, for tests that want a realistic one rather than a particular one. */
import type { BuildResult } from '../../src/model/results.ts';
import { ahead, type ItemStory, itemStory, jobNode, type StoryOptions } from './queue-item.ts';

/** Waits for the window, is reset by a failure ahead, retries a job, waits for the change ahead, merges. 4 minutes. */
export function resetAndMergedStory(options: StoryOptions = {}): ItemStory {
  const story = itemStory(options);
  const jobs = [jobNode('lint'), jobNode('unit-tests'), jobNode('deploy-preview', 'unit-tests')];
  story
    .wait(12_100)
    .note('window-entered', { position: 19 })
    .merge()
    .wait(40)
    .merged(25)
    .freeze(jobs)
    .wait(900);
  story
    .start('lint')
    .wait(400)
    .start('unit-tests', 'executor-2')
    .wait(8_000)
    .finish('lint', 'SUCCESS')
    .wait(29_000);
  story.reset('item-ahead-failed', ahead()).wait(60).lateExecution('unit-tests', 1);
  story
    .merge()
    .wait(22)
    .merged(15)
    .freeze(jobs)
    .wait(300)
    .start('lint')
    .wait(2_500)
    .start('unit-tests')
    .wait(4_500);
  story
    .finish('lint', 'SUCCESS')
    .wait(15_000)
    .finish('unit-tests', 'RETRY', 'without')
    .request('unit-tests', 2)
    .wait(1_800);
  story
    .start('unit-tests', 'executor-3')
    .wait(61_000)
    .finish('unit-tests', 'SUCCESS')
    .request('deploy-preview')
    .wait(700);
  story.start('deploy-preview').wait(24_000).finish('deploy-preview', 'SUCCESS').complete('SUCCESS');
  story.enter('change-ahead', 'acme/app master/logout,1a2b3c4d').wait(48_000).report('success').wait(230);
  return story.reported('done', 200).leave('reported', 'SUCCESS');
}

/** Fails its own tests in a check pipeline. */
export function failedStory(options: StoryOptions = {}): ItemStory {
  const story = itemStory({ pipeline: 'check', seed: 'failed', ...options });
  story
    .merge()
    .wait(30)
    .merged()
    .freeze(['lint', 'unit-tests'])
    .wait(200)
    .start('lint')
    .start('unit-tests')
    .wait(3_000);
  story
    .finish('lint', 'SUCCESS')
    .wait(9_000)
    .finish('unit-tests', 'FAILURE')
    .complete('FAILURE')
    .report('failure')
    .wait(90);
  return story.reported().leave('reported', 'FAILURE');
}

/** One random life: `choices` decide what happens at each step; always ends by leaving. */
export function randomStory(choices: readonly number[], seed = 'random'): ItemStory {
  const story = itemStory({ seed });
  for (const choice of choices) {
    // Never two turns at the same moment.
    story.wait((choice % 97) / 3 + 0.001);
    step(story, choice);
  }
  story.wait(5);
  if (story.item.phase.phase !== 'left') story.leave('dequeued-by-hand', 'DEQUEUED');
  for (const buildset of story.item.earlier) {
    for (const build of buildset.builds) {
      if (build.state.state === 'cancelled' && build.state.startedAt !== null)
        story.lateExecution(build.job, buildset.number);
    }
  }
  return story;
}

const RESULTS: readonly BuildResult[] = ['SUCCESS', 'FAILURE', 'RETRY', 'TIMED_OUT', 'POST_FAILURE'];

function step(story: ItemStory, choice: number): void {
  const { item } = story;
  const pick = <T>(values: readonly T[]): T | undefined => values[choice % Math.max(1, values.length)];
  if (item.phase.phase === 'left') return;
  if (item.phase.phase === 'reporting') {
    story.reported(pick(['done', 'refused', 'failed'] as const)).leave('reported', 'SUCCESS');
    return;
  }
  if (choice % 11 === 0 && item.earlier.length < 4) {
    story.reset(
      pick(['item-ahead-failed', 'item-ahead-left', 'base-moved'] as const),
      choice % 2 === 0 ? ahead() : null,
    );
    return;
  }
  if (choice % 41 === 0) {
    story.leave(pick(['abandoned', 'new-patchset'] as const), 'DEQUEUED');
    return;
  }
  const { buildset } = item;
  switch (buildset.stage.state) {
    case 'new':
      story.merge();
      return;
    case 'merging':
      if (choice % 7 === 0) story.merged(1, 'failed').merge();
      else story.merged();
      return;
    case 'merged':
      story.freeze(['a', 'b', jobNode('c', 'a')]);
      return;
    case 'running': {
      const open = buildset.builds.filter(
        build => build.state.state === 'requested' || build.state.state === 'started',
      );
      const build = pick(open);
      if (build === undefined) {
        story.complete('SUCCESS').report('success');
      } else if (build.state.state === 'requested') {
        story.start(build.job);
      } else {
        const result = pick(RESULTS) ?? 'SUCCESS';
        story.finish(build.job, result);
        if (result === 'RETRY') story.request(build.job, build.attempt + 1);
        else if (build.job === 'a' && result === 'SUCCESS') story.request('c');
        else if (build.job === 'a') story.skip('c', 'a');
      }
      return;
    }
    default:
      story.wait(1);
  }
}
