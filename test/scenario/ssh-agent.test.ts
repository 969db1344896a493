/** The ssh key of a project goes from the keystore to the agent of those builds that may use it. */
import { describe, expect, inject } from 'vitest';
import { KEYSTORE_PASSWORD, SSH_PUBLIC_KEY, ZUUL_KEYS } from '../fake/project-keys.ts';
import { ON_BUBBLEWRAP, ON_OPENSSH } from '../setup/provided.ts';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const AGENT = '#!/bin/sh\nssh-add -L || test $? -eq 1\n';

const has = (name: 'openSsh' | 'bubblewrap') => inject(name).kind !== 'none';

describe.skipIf(!has('openSsh') || !has('bubblewrap'))(`with OpenSSH ${ON_OPENSSH} ${ON_BUBBLEWRAP}`, () => {
  story(
    'the stored ssh key of a project is in the agent of its builds after review, and not in that of builds before review',
    {
      layout: layoutWith(
        `
- job: {name: trusted, run: playbooks/agent.sh}
- project: {name: org/project, check: {jobs: [trusted]}, gate: {jobs: [trusted]}}
`,
        { notes: false, check: true, gate: { more: ['post-review: true'] } },
      ),
      configFiles: { 'playbooks/agent.sh': AGENT },
      projects: {
        'org/project': {
          '.zuul.yaml': `- job: {name: untrusted, run: playbooks/agent.sh}
- project: {check: {jobs: [untrusted]}, gate: {jobs: [untrusted]}}
`,
          'playbooks/agent.sh': AGENT,
        },
      },
      sections: ['[keystore]', `password = ${KEYSTORE_PASSWORD.reveal()}`],
      keys: ZUUL_KEYS,
      // Its path of the socket is short; those of stories may be longer than a socket's name can be.
      executor: ['sandbox = bubblewrap'],
    },
    async world => {
      await world.propose('A');
      await world.leaves('A', 'SUCCESS', 'check');
      await world.approve('A');
      await world.leaves('A', 'SUCCESS', 'gate');
      const builds = await world.api.get<readonly BuildRow[]>('/api/tenant/tenant-one/builds');
      const seen = builds.map(async ({ uuid, job_name, pipeline }) => {
        const log = await world.api.text(`/api/tenant/tenant-one/build/${uuid}/log`);
        const none = log.includes('The agent has no identities') ? 'no key' : 'no agent';
        return `${pipeline} ${job_name}: ${log.includes(`${SSH_PUBLIC_KEY} org/project`) ? 'the key' : none}`;
      });
      expect((await Promise.all(seen)).toSorted()).toEqual([
        'check trusted: no key',
        'check untrusted: no key',
        'gate trusted: the key',
        'gate untrusted: the key',
      ]);
    },
  );
});

interface BuildRow {
  readonly uuid: string;
  readonly job_name: string;
  readonly pipeline: string;
}
