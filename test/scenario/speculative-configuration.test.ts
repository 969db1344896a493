import { expect } from 'vitest';
import type { ComponentsJson } from '../../src/api/components.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const layout = layoutWith('', { checkout: false, check: true, notes: false });
const withNotes = layoutWith('', { checkout: false, check: true });
const own = (...jobs: readonly string[]) => `${jobs.map(name => `- job: {name: ${name}}\n`).join('')}
- project:
    check: {jobs: [${jobs.join(', ')}]}
    gate: {jobs: [${jobs.join(', ')}]}
`;
const projects = { 'org/project': { '.zuul.yaml': own('old') }, 'org/other': { '.zuul.yaml': own('other') } };

story(
  'a change is tested with the configuration it brings, and so are those behind it',
  { layout, projects },
  async world => {
    await world.propose('A', { files: { '.zuul.yaml': own('old', 'new') } });
    await world.runs('old: A', 'new: A');
    world.release(/./);
    await world.leaves('A', 'SUCCESS', 'check');
    await world.propose('B');
    await world.runs('old: B');
    world.release(/./);
    await world.leaves('B', 'SUCCESS', 'check');

    await world.approve('A');
    await world.approve('B');
    await world.runs('old: A', 'new: A', 'old: A B', 'new: A B');
    world.release(/./);
    await world.leaves('A', 'SUCCESS');
    await world.leaves('B', 'SUCCESS');

    // Landed: from now on it holds for all changes.
    await world.propose('C');
    await world.runs('old: C', 'new: C');
  },
);

story(
  'a change of a config project is validated but not used before it lands',
  {
    layout: `${withNotes}
- job: {name: selftest}
- project:
    name: org/config
    check: {jobs: [selftest]}
    gate: {jobs: [selftest]}
`,
    projects,
  },
  async world => {
    const text = await world.developer('org/config').git('show', 'master:zuul.yaml');
    const more = `${text}\n- job: {name: audit}\n- project:\n    name: org/other\n    check: {jobs: [audit]}\n`;
    await world.propose('A', { project: 'org/config', files: { 'zuul.yaml': more } });
    await world.runs('selftest: A');
    await world.propose('B', { project: 'org/other' });
    await world.runs('selftest: A', 'other: B');
    world.free();
    await world.leaves('A', 'SUCCESS', 'check');
    await world.leaves('B', 'SUCCESS', 'check');

    await world.propose('C', {
      project: 'org/config',
      files: { 'zuul.yaml': `${text}\n- job: {name: wrong, parent: nowhere}\n` },
    });
    const broken = await world.leaves('C', 'CONFIG_ERROR', 'check');
    expect(broken.reason).toBe('reported');
    const lines = `${text}\n`.split('\n').length;
    expect((await world.notes('C')).at(-1)).toContain(`zuul.yaml:${lines}`);
    expect((await world.notes('C')).at(-1)).toContain('Job nowhere not defined');
    const mistake = new RegExp(`zuul.yaml:${lines}:\\d+: Job nowhere not defined`);
    expect((await world.decided('C', 'left')).text).toMatch(mistake);
    const buildset = await world.observer.until('the span of the buildset to arrive', () =>
      world.sink.spans.find(({ traceId, name }) => traceId === broken.uuid && name.startsWith('BuildSet')),
    );
    expect(buildset.attributes['gatehouse.detail']).toMatch(mistake);

    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    await world.propose('D', { project: 'org/other' });
    await world.observer.until('the landed configuration to be used', () =>
      world.stage.builds.some(build => build.job === 'audit'),
    );
    await world.leaves('D', 'SUCCESS', 'check');
  },
);

story(
  'a broken file of one project disturbs no other, and is visible to all',
  { layout, projects, expectedTrouble: [/unknown key "tymeout"/] },
  async world => {
    const developer = world.developer('org/project');
    const broken = await developer.commit({
      files: {
        '.zuul.yaml':
          '- job:\n    name: old\n    tymeout: 3\n- project:\n    check: {jobs: [old]}\n    gate: {jobs: [old]}\n',
      },
      message: 'Break the configuration past the gate',
    });
    await world.push('org/project', broken, 'refs/heads/master');
    const errors = await world.observer.until('the error to be shown', async () => {
      const all = await world.api.get<
        readonly {
          readonly source_context: {
            readonly project: string;
            readonly branch: string;
            readonly path: string;
          };
          readonly error: string;
          readonly gatehouse: { readonly line: number };
        }[]
      >('/api/tenant/tenant-one/config-errors');
      return all.length > 0 ? all : undefined;
    });
    expect(errors[0]?.source_context).toEqual({
      project: 'org/project',
      branch: 'master',
      path: '.zuul.yaml',
    });
    expect(errors[0]?.gatehouse.line).toBe(3);
    expect(errors[0]?.error).toContain('.zuul.yaml:3');
    expect(errors[0]?.error).toContain('timeout');

    await world.propose('A', { project: 'org/other' });
    await world.runs('other: A');
    world.free();
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed('org/other')).toEqual(['A']);

    // The change that mends it is tested with what it brings.
    await world.propose('B', { files: { '.zuul.yaml': own('old') } });
    await world.leaves('B', 'SUCCESS', 'check');
    await world.approve('B');
    await world.leaves('B', 'SUCCESS');
    await world.observer.until(
      'the error to be gone',
      async () =>
        (await world.api.get<readonly unknown[]>('/api/tenant/tenant-one/config-errors')).length === 0,
    );
  },
);

story(
  'a change that breaks its configuration gets a note with file, line and reason, and runs nothing',
  { layout: withNotes, projects },
  async world => {
    await world.propose('A', {
      files: { '.zuul.yaml': '- job:\n    name: old\n- project:\n    check: {jobs: [old, missing]}\n' },
    });
    await world.leaves('A', 'CONFIG_ERROR', 'check');
    const said = (await world.notes('A')).at(-1);
    expect(said).toContain('.zuul.yaml:4');
    expect(said).toContain('Job missing not defined');
    expect(await world.history()).toEqual([]);

    // In the gate, what is behind it is tested without it.
    await world.propose('B');
    await world.runs('old: B');
    await pauseMerger(world);
    for (const topic of ['A', 'B']) await world.approve(topic);
    await world.observer.until('both to be queued', () => world.queued().length === 2);
    await world.operator.post('/api/components/merger-0/resume', {});
    await world.leaves('A', 'CONFIG_ERROR');
    expect(world.item('B')?.resets.map(({ code }) => code)).toEqual(['item-ahead-misconfigured']);
    world.free();
    await world.leaves('B', 'SUCCESS');
  },
);

async function pauseMerger({ api, operator, observer }: World): Promise<void> {
  await operator.post('/api/components/merger-0/pause', {});
  await observer.until('the merger to pause', async () => {
    const { merger } = await api.get<ComponentsJson>('/api/components');
    return merger?.every(({ state }) => state === 'paused');
  });
}

story(
  'configuration in a further place of the tenant file is read, proposed and landed as in the usual one',
  {
    layout,
    projects: { 'org/project': { 'ci/jobs.yaml': own('old') } },
    projectOptions: '{extra-config-paths: ci/}',
  },
  async world => {
    await world.propose('A', { files: { 'ci/jobs.yaml': own('old', 'new') } });
    await world.runs('old: A', 'new: A');
    world.free();
    await world.leaves('A', 'SUCCESS', 'check');
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    await world.propose('B');
    await world.leaves('B', 'SUCCESS', 'check');
    // Both begin at once.
    const ran = world.stage.builds.flatMap(({ job, changes }) => (changes === 'B' ? [job] : []));
    expect(ran.toSorted()).toEqual(['new', 'old']);
  },
);

story(
  'the configuration of an always dynamic branch counts for changes of it only',
  {
    layout,
    projects: { 'org/project': { 'zuul.yaml': own('stable') } },
    projectOptions: '{always-dynamic-branches: feature/.*}',
  },
  async world => {
    const developer = world.developer('org/project');
    const config = { 'zuul.yaml': own('feature') };
    const feature = await developer.commit({ files: config, message: 'Begin a feature' });
    await world.push('org/project', feature, 'refs/heads/feature/x');
    await world.propose('A', { branch: 'feature/x' });
    await world.propose('B');
    await world.runs('feature: feature/x/A', 'stable: B');
    world.free();
    await world.leaves('A', 'SUCCESS', 'check');
    await world.leaves('B', 'SUCCESS', 'check');
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
  },
);
