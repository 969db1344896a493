import { expect } from 'vitest';
import type { SinkSpan } from '../fake/otlp-sink.ts';
import { describeOnAnsible } from '../setup/ansible.ts';
import { layoutWith } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const layout = layoutWith(
  `
- job:
    name: deploy
    run: [playbooks/deploy.yaml]
    vars: {target: staging}
- project:
    name: org/project
    gate: {jobs: [deploy]}
`,
  { notes: false },
);
const configFiles = {
  'playbooks/deploy.yaml': `
- name: Deploy
  hosts: all
  gather_facts: false
  tasks:
    - name: Look
      command: cat {{ zuul.executor.src_root }}/local/org/project/subject.txt
      register: seen
    - name: Refuse what is broken
      fail: {msg: "broken for {{ target }}"}
      when: "'broken' in seen.stdout"
`,
};

describeOnAnsible('a job that is an Ansible playbook', () => {
  story(
    'tests the change it is given, and its plays and tasks are in the trace of the item',
    { layout, configFiles },
    async world => {
      await world.propose('A', { files: { 'subject.txt': 'broken\n' } });
      await world.approve('A');
      const failed = await world.leaves('A', 'FAILURE');
      await world.propose('B', { files: { 'subject.txt': 'good\n' } });
      await world.approve('B');
      const passed = await world.leaves('B', 'SUCCESS');
      expect(await world.landed()).toEqual(['B']);

      for (const [{ uuid }, outcome] of [
        [failed, 'failed'],
        [passed, 'skipped'],
      ] as const) {
        const spans = await world.observer.until('the trace to arrive', () => {
          const trace = world.sink.spans.filter(span => span.traceId === uuid);
          return trace.some(({ parentSpanId }) => parentSpanId === null) ? trace : undefined;
        });
        const below = (parent: SinkSpan | undefined) =>
          spans.filter(({ parentSpanId }) => parentSpanId === parent?.spanId);
        const playbook = spans.find(({ name }) => name === 'Playbook playbooks/deploy.yaml');
        const [play] = below(playbook);
        expect(play?.name).toBe('AnsiblePlay Deploy');
        expect(
          below(play).map(({ name, attributes }) => [name, attributes['gatehouse.ansible.outcome']]),
        ).toEqual([
          ['AnsibleTask Look', 'changed'],
          ['AnsibleTask Refuse what is broken', outcome],
        ]);
        expect(play?.attributes['gatehouse.result']).toBe(outcome === 'failed' ? 'FAILURE' : 'SUCCESS');
      }
      const logs = await logsOf(world, 'A');
      expect(JSON.parse(await world.api.text(`${logs}job-output.json`))).toMatchObject([
        {
          ...{ playbook: 'local/org/config/playbooks/deploy.yaml', phase: 'run', index: '0', trusted: true },
          plays: [
            {
              play: { name: 'Deploy' },
              tasks: [
                {
                  task: { name: 'Look' },
                  hosts: { localhost: { rc: 0, stdout: 'broken', action: 'command' } },
                },
                {
                  task: { name: 'Refuse what is broken' },
                  hosts: { localhost: { failed: true, msg: 'broken for staging' } },
                },
              ],
            },
          ],
          stats: { localhost: { ok: 1, failures: 1 } },
        },
      ]);
      const { tree } = await world.api.get<Manifest>(`${logs}zuul-manifest.json`);
      expect(tree.map(({ name, mimetype }) => [name, mimetype])).toEqual([
        ['job-output.txt', 'text/plain'],
        ['job-output.json', 'application/json'],
        ['zuul-info', 'application/directory'],
      ]);
      const texts = JSON.stringify(world.sink.spans, (_, value) => (typeof value === 'bigint' ? '' : value));
      expect(texts).not.toContain('staging');
    },
  );
});

interface Manifest {
  readonly tree: readonly { readonly name: string; readonly mimetype: string }[];
}

/** Path of what the build of the item left. */
async function logsOf(world: World, topic: string): Promise<string> {
  const builds = await world.api.get<
    readonly { readonly uuid: string; readonly ref: { readonly change: string } }[]
  >(`/api/tenant/${TENANT}/builds`);
  const build = builds.find(({ ref }) => ref.change === `master/${topic}`);
  return `/api/tenant/${TENANT}/build/${build?.uuid}/logs/`;
}
