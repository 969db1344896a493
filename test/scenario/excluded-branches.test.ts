/** Branches that a tenant leaves out, as the code host has them. */
import { expect } from 'vitest';
import { BASE_JOB } from '../fake/layout-text.ts';
import { contractOf } from './contract-host-stories.ts';
import { story } from './story.ts';

const LAYOUT = `${BASE_JOB}
- pipeline:
    name: post
    manager: independent
    trigger:
      local: [{event: ref-updated}]
- job: {name: publish}
- project:
    name: org/project
    post: {jobs: [publish]}
`;
/** Read from a branch that counts, it is one more job. */
const CONFIG = `
- job: {name: extra}
- project:
    post: {jobs: [extra]}
`;

story(
  'a branch that the host does not protect runs nothing and configures nothing, until it is protected',
  { layout: LAYOUT, contractHost: true, projectOptions: '{exclude-unprotected-branches: true}' },
  async world => {
    const [host, developer] = [contractOf(world), world.developer('org/project')];
    const push = async (branch: string, files: { readonly [path: string]: string }) => {
      const commit = await developer.commit({ files, message: `On ${branch}` });
      await developer.push(commit, `refs/heads/${branch}`);
      await host.pushed('org/project');
    };
    // The first read of the repository is no event; changes after it are.
    await world.propose('A');
    await host.setRules('org/project', 'stable', { protected: false, locked: false });
    await push('stable', { '.zuul.yaml': CONFIG });
    await world.observer.until('the event to be ignored', () =>
      world.sink.spans
        .flatMap(({ events }) => events)
        .some(({ attributes }) =>
          String(attributes['gatehouse.text']).includes('branch stable is excluded in the tenant file'),
        ),
    );
    expect(world.stage.builds).toEqual([]);

    await host.setRules('org/project', 'stable', { protected: true, locked: false });
    await push('stable', { 'a.txt': 'a', '.zuul.yaml': CONFIG });
    await world.runs('extra: refs/heads/stable', 'publish: refs/heads/stable');
    world.free();
    await world.runs();
  },
);
