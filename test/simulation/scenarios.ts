/** The base scenarios: each a short story that ends by itself. */

import { parseRefName } from '../../src/git/objects/ref-name.ts';
import { changeKey } from '../../src/model/change.ts';
import { projectKey } from '../../src/model/project.ts';
import { CONNECTION } from './host/host-git.ts';
import { stream } from './kernel/random.ts';
import {
  after,
  approve,
  begunIn,
  deed,
  failedIn,
  hasLanded,
  jobsBegun,
  landed,
  propose,
  proposeAndApprove,
  ready,
  type Scenario,
  type ScenarioStep,
} from './scenario.ts';
import { AFTER_LANDING, mainConfig, ownConfig, PROJECTS } from './site.ts';
import type { World } from './world.ts';

function keyOf(project: string, topic: string) {
  return changeKey(projectKey({ connection: CONNECTION, name: project }), `master/${topic}`);
}

const single: Scenario = {
  name: 'single-change',
  text: 'one change is proposed, checked, approved and lands',
  steps: [propose('org/docs', 'one', {}, ready), approve('org/docs', 'one')],
  lands: ['org/docs/one'],
};

const failureInTheMiddle: Scenario = {
  name: 'failure-in-the-middle',
  text: 'three changes share a queue; the second fails, the third is tested again without it',
  steps: [
    proposeAndApprove('org/app', 'first', {}, ready),
    proposeAndApprove('org/app', 'second', { fails: ['integration'] }, after(20)),
    proposeAndApprove('org/lib', 'third', {}, after(20)),
  ],
  lands: ['org/app/first', 'org/lib/third'],
  neverLands: ['org/app/second'],
};

const failsAtOnce: Scenario = {
  name: 'reset',
  text: 'the head fails at once and everything behind it begins again',
  jobs: [3_000, 6_000],
  steps: [
    proposeAndApprove('org/app', 'broken', { fails: ['unit'] }, ready),
    proposeAndApprove('org/lib', 'second', {}, after(20)),
    proposeAndApprove('org/app', 'third', {}, after(20)),
    proposeAndApprove('org/lib', 'fourth', {}, after(20)),
  ],
  lands: ['org/lib/second', 'org/app/third', 'org/lib/fourth'],
  neverLands: ['org/app/broken'],
};

const clash: Scenario = {
  name: 'clash',
  text: 'two changes are good alone and fail together; only the first lands',
  steps: [
    proposeAndApprove('org/app', 'left', { fails: ['unit+clash'] }, ready),
    proposeAndApprove('org/app', 'right', { fails: ['unit+clash'] }, after(20)),
    proposeAndApprove('org/app', 'bystander', {}, after(20)),
  ],
  lands: ['org/app/left', 'org/app/bystander'],
  neverLands: ['org/app/right'],
};

const conflict: Scenario = {
  name: 'merge-conflict',
  text: 'two changes touch the same file; the second conflicts with the first',
  steps: [
    proposeAndApprove('org/app', 'left', { files: { 'shared.txt': 'left' } }, ready),
    proposeAndApprove('org/app', 'right', { files: { 'shared.txt': 'right' } }, after(20)),
    proposeAndApprove('org/lib', 'behind', {}, after(20)),
  ],
  lands: ['org/app/left', 'org/lib/behind'],
  neverLands: ['org/app/right'],
};

const newPatchset: Scenario = {
  name: 'new-patchset',
  text: 'a new patchset arrives while jobs of the old one run; it is approved again and lands',
  steps: [
    proposeAndApprove('org/app', 'moving', {}, ready),
    proposeAndApprove('org/lib', 'behind', {}, after(20)),
    deed(
      'a new patchset of org/app moving',
      world => world.people.propose('org/app', 'moving', { files: { 'more.txt': '2' } }),
      jobsBegun('integration'),
    ),
    approve('org/app', 'moving', after(500)),
  ],
  lands: ['org/app/moving', 'org/lib/behind'],
};

const dequeued: Scenario = {
  name: 'dequeue',
  text: 'one item is dequeued by hand, one loses its approval, one is abandoned; what is behind lands',
  steps: [
    proposeAndApprove('org/app', 'by-hand', {}, ready),
    proposeAndApprove('org/lib', 'withdrawn', {}, after(20)),
    proposeAndApprove('org/app', 'abandoned', {}, after(20)),
    proposeAndApprove('org/lib', 'behind', {}, after(20)),
    deed(
      'by-hand is dequeued',
      world => world.dequeue('gate', keyOf('org/app', 'by-hand')),
      begunIn('gate', 'by-hand'),
    ),
    deed(
      'the approval of withdrawn is taken back',
      world => world.people.withdrawApproval('org/lib', 'withdrawn'),
      after(300),
    ),
    deed('abandoned is abandoned', world => world.people.abandon('org/app', 'abandoned'), after(300)),
  ],
  lands: ['org/lib/behind'],
};

const promotion: Scenario = {
  name: 'promotion',
  text: 'people promote a change, and one that needs another one; all land in the end',
  jobs: [3_000, 6_000],
  steps: [
    proposeAndApprove('org/app', 'first', {}, ready),
    proposeAndApprove('org/lib', 'needed', {}, after(20)),
    proposeAndApprove('org/app', 'needing', { dependsOn: ['org/lib/needed'] }, after(20)),
    proposeAndApprove('org/lib', 'hotfix', {}, after(20)),
    deed(
      'hotfix is promoted',
      world => world.promote('gate', keyOf('org/lib', 'hotfix')),
      begunIn('gate', 'hotfix'),
    ),
    deed('needing is promoted', world => world.promote('gate', keyOf('org/app', 'needing')), after(300)),
  ],
  lands: ['org/app/first', 'org/lib/needed', 'org/app/needing', 'org/lib/hotfix'],
};

const byHand: Scenario = {
  name: 'by-hand',
  text: 'an operator lets a change in that has no approval, has failed jobs run again, and pauses and drains the gate for a while',
  jobs: [5_000, 9_000],
  steps: [
    proposeAndApprove('org/app', 'first', {}, ready),
    proposeAndApprove('org/lib', 'flaky', { flaky: ['unit'] }, begunIn('gate', 'first')),
    propose('org/app', 'unapproved', {}, after(20)),
    deed(
      'unapproved enters by hand',
      world => world.enqueue('gate', keyOf('org/app', 'unapproved')),
      after(500),
    ),
    deed('a job of flaky has failed', () => undefined, failedIn('gate', 'flaky')),
    deed('its failed job runs again', world => world.rerun('gate', keyOf('org/lib', 'flaky')), after(300)),
    deed('the gate is paused', world => world.halt('gate', 'pause', 15_000), after(200)),
    deed('the gate is drained', world => world.halt('gate', 'drain', 10_000), after(30_000)),
    proposeAndApprove('org/docs', 'behind', {}, after(100)),
  ],
  lands: ['org/app/first', 'org/lib/flaky', 'org/app/unapproved', 'org/docs/behind'],
};

const paused: Scenario = {
  name: 'paused-builds',
  text: 'builds pause until what depends on them has ended, while what is ahead fails and an executor dies',
  jobs: [3_000, 6_000],
  steps: [
    proposeAndApprove('org/app', 'broken', { fails: ['integration'] }, ready),
    proposeAndApprove('org/lib', 'pausing', { pauses: ['unit'] }, after(20)),
    proposeAndApprove('org/app', 'also-pausing', { pauses: ['unit'] }, after(20)),
    deed(
      'the executor that has a paused build is killed',
      world => {
        const by = world.jobRuns.findLast(({ of, job }) => of.endsWith('/pausing') && job === 'unit')?.by;
        if (by !== undefined) world.crash(by, 15_000);
      },
      begunIn('gate', 'pausing', 'integration'),
    ),
  ],
  lands: ['org/lib/pausing', 'org/app/also-pausing'],
  neverLands: ['org/app/broken'],
};

const lostRace: Scenario = {
  name: 'lost-race',
  text: 'a push past the gate comes while a change is tested; it is tested again on what is there now',
  steps: [
    proposeAndApprove('org/app', 'racing', {}, ready),
    proposeAndApprove('org/app', 'second', {}, after(20)),
    deed(
      'a push to org/app past the gate',
      world => world.people.pushDirectly('org/app', { 'hotfix.txt': '1' }),
      jobsBegun('integration'),
    ),
  ],
  lands: ['org/app/racing', 'org/app/second'],
};

const reconfiguration: Scenario = {
  name: 'reconfiguration',
  text: 'a change of the configuration lands, and a change that brings a job of its own; what follows runs under the new layout',
  steps: [
    deed(
      'the config-project gets a new version past the gate',
      world =>
        world.people.pushDirectly('org/config', {
          'zuul.yaml': mainConfig('\n- job:\n    name: more\n    attempts: 6\n'),
        }),
      ready,
    ),
    proposeAndApprove(
      'org/docs',
      'own-job',
      { files: { 'zuul.yaml': ownConfig('lint'), 'playbooks/lint.sh': 'true' } },
      after(800),
    ),
    proposeAndApprove('org/docs', 'after-it', {}, hasLanded('org/docs', 'own-job')),
  ],
  lands: ['org/docs/own-job', 'org/docs/after-it'],
};

const post: Scenario = {
  name: 'post',
  text: 'updates of refs run the post pipeline: a push past the gate, a tag, a landing',
  steps: [
    deed('a push past the gate', world => world.people.pushDirectly('org/docs', { a: '1' }), ready),
    deed(
      'a tag',
      world => {
        const to = world.host.tip('org/docs');
        world.host.push('org/docs', [{ ref: parseRefName('refs/tags/v1'), from: null, to }], 'developer');
      },
      after(300),
    ),
    proposeAndApprove('org/docs', 'landing', {}, after(300)),
    deed('another push', world => world.people.pushDirectly('org/lib', { b: '1' }), after(1_000)),
  ],
  lands: ['org/docs/landing'],
};

/** The pushes come faster than the jobs end. */
const deployments: Scenario = {
  name: 'deployments',
  text: 'what lands is deployed one after the other, and of each branch the latest is promoted',
  jobs: [8_000, 14_000],
  pipelines: () => AFTER_LANDING,
  steps: [
    deed('a push past the gate', world => world.people.pushDirectly('org/app', { a: '1' }), ready),
    ...['org/app', 'org/lib', 'org/app', 'org/app', 'org/docs'].map((project, index) =>
      deed(
        `push ${index + 2}`,
        world => world.people.pushDirectly(project, { [`${index}`]: '1' }),
        after(1_500),
      ),
    ),
    proposeAndApprove('org/docs', 'landing', {}, after(300)),
    proposeAndApprove('org/docs', 'another', {}, after(20)),
  ],
  lands: ['org/docs/landing', 'org/docs/another'],
};

const series: Scenario = {
  name: 'depends-on',
  text: 'a series: a change of org/app on top of another, both needing one of org/lib',
  steps: [
    propose('org/lib', 'base', {}, ready),
    propose('org/app', 'lower', { dependsOn: ['org/lib/base'] }, after(50)),
    propose('org/app', 'upper', { onTopOf: 'lower' }, after(50)),
    approve('org/lib', 'base', after(300)),
    approve('org/app', 'lower', after(50)),
    approve('org/app', 'upper', after(50)),
  ],
  lands: ['org/lib/base', 'org/app/lower', 'org/app/upper'],
};

const lostExecutor: Scenario = {
  name: 'lost-executor',
  text: 'an executor dies with its builds; they are run again by another',
  jobs: [5_000, 9_000],
  steps: [
    proposeAndApprove('org/app', 'first', {}, ready),
    proposeAndApprove('org/lib', 'second', {}, after(20)),
    deed(
      'the executor that has a build is killed',
      world => {
        const by = world.jobRuns.at(-1)?.by;
        if (by !== undefined) world.crash(by, 15_000);
      },
      jobsBegun('unit', 2),
    ),
  ],
  lands: ['org/app/first', 'org/lib/second'],
};

const longJobs: Scenario = {
  name: 'long-jobs',
  text: 'jobs take longer than several rounds of the sweeper; in between the schedulers are started anew',
  jobs: [800_000, 1_000_000],
  steps: [
    proposeAndApprove('org/docs', 'slow', {}, ready),
    ...['scheduler1', 'scheduler2'].map(name =>
      deed(`${name} is killed`, world => world.crash(name, 500), after(700_000)),
    ),
  ],
  lands: ['org/docs/slow'],
};

/** Much at once, another mixture with each seed. */
const busy: Scenario = {
  name: 'busy',
  text: 'a dozen changes of all kinds, people who change their minds',
  jobs: [500, 8_000],
  pipelines: seed => AFTER_LANDING.filter(name => stream(seed, `site ${name}`).chance(0.5)),
  steps: Array.from(
    { length: 14 },
    (_, index): ScenarioStep => ({
      text: `people are busy (${index + 1})`,
      when: index === 0 ? ready : (world, since) => since >= chanceOf(world, index).range(50, 4_000),
      act: world => beBusy(world, index),
    }),
  ),
  lands: [],
};

function chanceOf(world: World, index: number) {
  return stream(world.options.seed, `busy ${index}`);
}

function beBusy(world: World, index: number): void {
  const random = chanceOf(world, index);
  random.next();
  const { people } = world;
  const project = random.pick(PROJECTS);
  const other = random.pick(PROJECTS);
  const topics = ['a', 'b', 'c', 'd', 'e'];
  const topic = random.pick(topics);
  // A name that has landed is not used again: it would be the same change.
  if (landed(world, project, topic)) return;
  const deeds: readonly (() => void)[] = [
    () => {
      people.propose(project, topic);
      people.approve(project, topic);
    },
    () => {
      people.propose(project, topic, {
        fails: [random.pick(['unit', 'integration', 'unit+x', 'integration+y'])],
      });
      people.approve(project, topic);
    },
    () => {
      people.propose(project, topic, { files: { 'shared.txt': topic } });
      people.approve(project, topic);
    },
    () => {
      people.propose(project, topic, { dependsOn: [`${other}/${random.pick(topics)}`] });
      people.approve(project, topic);
    },
    () => people.approve(project, topic),
    () => people.withdrawApproval(project, topic),
    () => people.abandon(project, topic),
    () => people.pushDirectly(project, { [`direct${index}.txt`]: '1' }),
    () => world.dequeue(random.pick(['gate', 'check']), keyOf(project, topic)),
    () => world.promote(random.pick(['gate', 'gate', 'check']), keyOf(project, topic)),
    () => world.enqueue(random.pick(['gate', 'check']), keyOf(project, topic)),
    () => world.rerun(random.pick(['gate', 'gate', 'check']), keyOf(project, topic)),
    () =>
      world.halt(
        random.pick(['gate', 'check']),
        random.pick(['pause', 'drain'] as const),
        random.range(500, 60_000),
      ),
    () => {
      people.propose(project, topic, { flaky: ['unit'], pauses: [random.pick(['unit', 'integration'])] });
      people.approve(project, topic);
    },
  ];
  const weights = [0, 0, 0, 0, 1, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 12, 13, 13];
  deeds[random.pick(weights)]?.();
}

export const SCENARIOS: readonly Scenario[] = [
  single,
  failureInTheMiddle,
  failsAtOnce,
  clash,
  conflict,
  newPatchset,
  dequeued,
  promotion,
  byHand,
  paused,
  lostRace,
  reconfiguration,
  post,
  deployments,
  series,
  lostExecutor,
  longJobs,
  busy,
];
