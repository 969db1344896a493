/**
 * A gate of six in the middle of a reset, a check pipeline and some history, as they are 300 seconds after the beginning.
 *
 *   retry-budget   integration runs, second attempt
 *   fast-login     unit-tests failed; waits for retry-budget to leave
 *   dark-mode      tested again without fast-login
 *   fix-typo       tested again; waits for an executor
 *   api-v2         tested again; being merged
 *   docs           outside the window
 */
import type { ResetCause } from '../../../src/model/cause.ts';
import { changeText } from '../../../src/model/change.ts';
import type { Decision } from '../../../src/model/decision.ts';
import type { ItemStateName } from '../../../src/model/item-states.ts';
import type { Pipeline } from '../../../src/model/pipeline.ts';
import type { PipelineState } from '../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { gatePipeline } from '../../fake/pipeline.ts';
import { emptyJobNode } from '../../fake/records.ts';
import { at, type SampleBuildset, sampleChange, sampleItem, uuidOf } from './sample-item.ts';

export const NOW = at(300);

const fastLogin = sampleChange('fast-login', 'acme/app', 'Remember the session for a week');

export const RESET: ResetCause = {
  code: 'item-ahead-failed',
  at: at(262),
  culprit: {
    item: uuidOf('fast-login'),
    change: changeText(fastLogin),
    build: uuidOf('fast-login', 'build', '1', 'unit-tests', '1'),
    job: 'unit-tests',
    result: 'FAILURE',
  },
};
const CANCELLED = { code: 'reset', at: RESET.at, culprit: RESET.culprit } as const;

const OLD_TIMELINE = [
  ['merge', 0],
  ['configure', 1],
  ['executor', 1.5],
  ['running', 6],
] as const;

/** What the three items that were tested again have in common. */
function resetItem(project: string, subject: string, start: number, behind: string) {
  return {
    project,
    subject,
    at: start,
    behind,
    first: {
      at: start,
      supersededBy: RESET,
      builds: [
        { job: 'lint', times: [start + 1.5, start + 6, start + 35] },
        { job: 'unit-tests', times: [start + 1.5, start + 7], cancelled: CANCELLED },
        { job: 'coverage', times: [start + 1.5, start + 9], voting: false, cancelled: CANCELLED },
      ],
    } satisfies SampleBuildset,
    before: OLD_TIMELINE.map(([state, after]): readonly [ItemStateName, number] => [state, start + after]),
  };
}

export function gateItems(): readonly QueueItem[] {
  const dark = resetItem('acme/app', 'Dark colours for the settings page', 150, 'retry-budget');
  const typo = resetItem('acme/lib', 'Fix a typo in the error text', 170, 'dark-mode');
  const api = resetItem('acme/app', 'Second version of the public API', 190, 'fix-typo');
  return [
    sampleItem('retry-budget', {
      project: 'acme/lib',
      subject: 'Give retries a budget',
      at: 20,
      buildsets: [
        {
          at: 20,
          builds: [
            { job: 'lint', times: [21.5, 25, 51] },
            { job: 'unit-tests', times: [21.5, 24, 118] },
            {
              job: 'integration',
              times: [118, 121, 190],
              result: 'RETRY',
              detail: 'the executor lost its connection',
            },
            { job: 'integration', times: [190, 196], attempt: 2 },
            {
              job: 'coverage',
              times: [21.5, 26, 140],
              voting: false,
              result: 'FAILURE',
              detail: 'coverage fell below 80 %',
            },
          ],
        },
      ],
      timeline: [
        ['merge', 20],
        ['configure', 21],
        ['executor', 21.5],
        ['running', 24],
      ],
    }),
    sampleItem('fast-login', {
      change: fastLogin,
      at: 130,
      behind: 'retry-budget',
      buildsets: [
        {
          at: 130,
          builds: [
            { job: 'lint', times: [131.5, 135, 160] },
            {
              job: 'unit-tests',
              times: [131.5, 137, 262],
              result: 'FAILURE',
              detail: '3 of 412 tests failed',
            },
            { job: 'integration', times: [262], skippedFor: 'unit-tests' },
            { job: 'coverage', times: [131.5, 140, 255], voting: false },
          ],
        },
      ],
      timeline: [
        ['merge', 130],
        ['configure', 131],
        ['executor', 131.5],
        ['running', 135],
        ['change-ahead', 262, 'acme/lib master/retry-budget'],
      ],
    }),
    sampleItem('dark-mode', {
      ...dark,
      buildsets: [
        dark.first,
        {
          at: 262,
          cause: RESET,
          builds: [
            { job: 'lint', times: [263.5, 268, 294] },
            { job: 'unit-tests', times: [263.5, 270] },
            { job: 'coverage', times: [263.5, 290], voting: false },
          ],
        },
      ],
      timeline: [...dark.before, ['merge', 262], ['configure', 263], ['executor', 263.5], ['running', 268]],
    }),
    sampleItem('fix-typo', {
      ...typo,
      buildsets: [
        typo.first,
        {
          at: 262,
          cause: RESET,
          builds: ['lint', 'unit-tests', 'coverage'].map(job => ({
            job,
            times: [265] as const,
            voting: job !== 'coverage',
          })),
        },
      ],
      timeline: [...typo.before, ['merge', 262], ['configure', 264.5], ['executor', 265]],
    }),
    sampleItem('api-v2', {
      ...api,
      dependsOn: [sampleChange('fix-typo', 'acme/lib')],
      buildsets: [api.first, { at: 262, cause: RESET, stage: 'merging' }],
      timeline: [...api.before, ['merge', 262]],
    }),
    sampleItem('docs', {
      project: 'acme/app',
      subject: 'Explain the settings page',
      at: 230,
      behind: 'api-v2',
      buildsets: [{ at: 230, stage: 'new' }],
      timeline: [['window', 230]],
    }),
  ];
}

export function checkItems(): readonly QueueItem[] {
  return [
    sampleItem('graph-colours', {
      project: 'acme/app',
      subject: 'Softer colours in the graphs',
      pipeline: 'check',
      queue: 'local/acme/app',
      at: 210,
      buildsets: [
        {
          at: 210,
          jobs: [emptyJobNode('lint'), emptyJobNode('unit-tests')],
          builds: [
            { job: 'lint', times: [211, 214, 239] },
            { job: 'unit-tests', times: [211, 215] },
          ],
        },
      ],
      timeline: [
        ['merge', 210],
        ['configure', 210.8],
        ['executor', 211],
        ['running', 214],
      ],
    }),
    sampleItem('cache-size', {
      project: 'acme/lib',
      subject: 'Bound the cache',
      pipeline: 'check',
      queue: 'local/acme/lib',
      at: 291,
      buildsets: [{ at: 291, stage: 'merged' }],
      timeline: [
        ['merge', 291],
        ['configure', 292],
      ],
    }),
  ];
}

/** Oldest first: merged after one reset, failed, abandoned. */
export function finishedItems(): readonly QueueItem[] {
  const flaky = sampleItem('schema', {
    project: 'acme/app',
    subject: 'New schema for sessions',
    at: -300,
    buildsets: [
      {
        at: -300,
        stage: 'complete',
        result: 'FAILURE',
        endedAt: -180,
        builds: [
          { job: 'lint', times: [-298, -295, -270] },
          {
            job: 'unit-tests',
            times: [-298, -294, -190],
            result: 'FAILURE',
            detail: '1 of 409 tests failed',
          },
        ],
      },
    ],
    timeline: [
      ['merge', -300],
      ['configure', -299],
      ['executor', -298],
      ['running', -295],
      ['reporting', -181],
    ],
    left: { at: -180, reason: 'reported', result: 'FAILURE' },
  });
  const cause: ResetCause = {
    code: 'item-ahead-failed',
    at: at(-190),
    culprit: {
      item: flaky.uuid,
      change: changeText(flaky.changes[0]),
      build: uuidOf('schema', 'build', '1', 'unit-tests', '1'),
      job: 'unit-tests',
      result: 'FAILURE',
    },
  };
  const cancelled = { code: 'reset', at: cause.at, culprit: cause.culprit } as const;
  const merged = sampleItem('metrics', {
    project: 'acme/lib',
    subject: 'Count cache misses',
    at: -280,
    buildsets: [
      {
        at: -280,
        supersededBy: cause,
        builds: [
          { job: 'lint', times: [-278, -275, -250] },
          { job: 'unit-tests', times: [-278, -274], cancelled },
        ],
      },
      {
        at: -190,
        cause,
        stage: 'complete',
        endedAt: -42,
        builds: [
          { job: 'lint', times: [-188, -184, -160] },
          { job: 'unit-tests', times: [-188, -183, -91] },
          { job: 'integration', times: [-91, -88, -44] },
        ],
      },
    ],
    timeline: [
      ['merge', -280],
      ['configure', -279],
      ['executor', -278],
      ['running', -275],
      ['merge', -190],
      ['configure', -189],
      ['executor', -188],
      ['running', -184],
      ['reporting', -44],
    ],
    left: { at: -42, reason: 'reported', result: 'SUCCESS' },
  });
  const abandoned = sampleItem('spike', {
    project: 'acme/app',
    subject: 'Try another parser',
    pipeline: 'check',
    at: -60,
    buildsets: [
      {
        at: -60,
        builds: [
          { job: 'lint', times: [-58, -55], cancelled: { code: 'item-left', at: at(-20), culprit: null } },
        ],
      },
    ],
    timeline: [
      ['merge', -60],
      ['configure', -59],
      ['executor', -58],
      ['running', -55],
    ],
    left: { at: -20, reason: 'abandoned', result: 'DEQUEUED' },
  });
  return [flaky, merged, abandoned];
}

export function stateOf(items: readonly QueueItem[], window: number, name?: string): PipelineState {
  const queues = Map.groupBy(items, item => item.queue);
  return {
    queues: [...queues].map(([key, members]) => ({
      key,
      name: name ?? key.slice(key.indexOf('/') + 1),
      window,
      items: members.map(item => item.uuid),
    })),
    consecutiveFailures: 0,
    disabled: false,
    countedUnder: null,
    items: new Map(items.map(item => [item.uuid, item])),
  };
}

export function samplePipeline(name: string, more: Partial<Pipeline> = {}): Pipeline {
  return gatePipeline({
    name,
    manager: name === 'gate' ? 'dependent' : 'independent',
    triggers: [
      {
        connection: 'local',
        config: { event: 'approved' },
        definedAt: 'local/acme/config@master:pipelines.yaml:3',
      },
    ],
    ...more,
  });
}

export function sampleDecisions(): readonly Decision[] {
  const change = fastLogin;
  const common = {
    tenant: 'main',
    pipeline: 'gate',
    project: change.project,
    change: change.key,
    changeText: changeText(change),
    event: uuidOf('fast-login', 'event'),
  };
  return [
    {
      ...common,
      at: at(129.7),
      code: 'trigger-matched',
      item: null,
      text: 'event approved matches a trigger of gate',
    },
    {
      ...common,
      at: at(130),
      code: 'enqueued',
      item: uuidOf('fast-login'),
      text: 'enqueued in queue integrated at position 2 of 2',
    },
  ];
}
