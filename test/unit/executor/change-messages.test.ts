import { describe, expect, it } from 'vitest';
import { withMessages } from '../../../src/executor/change-messages.ts';
import { parseCommitId, projectKey } from '../../../src/model/project.ts';

const app = projectKey({ connection: 'local', name: 'acme/app' });
const projects = [
  {
    project: app,
    canonicalName: 'git.example.org/acme/app',
    branch: 'master',
    commit: parseCommitId('f'.repeat(40)),
    required: true,
  },
];

function change(digit: string, subject: string) {
  const project = { name: 'acme/app', canonical_name: 'git.example.org/acme/app' };
  return { change: digit, commit_id: digit.repeat(40), change_message: subject, project };
}

function mirror(messages: { readonly [commit: string]: string }) {
  const asked: string[] = [];
  const commitMessage = async (_: string, commit: string) => {
    asked.push(commit);
    return messages[commit];
  };
  return { asked, commitMessage };
}

describe('the messages a job gets', () => {
  it('are whole, for its own change in base64 as well, and read once each', async () => {
    const own = 'Mend the lock\n\nWürde sonst hängen.\n\nCloses: #7\nSigned-off-by: Ada\n';
    const { asked, commitMessage } = mirror({ ['a'.repeat(40)]: 'Begin\n\nBody\n', ['b'.repeat(40)]: own });
    const zuul = {
      ...change('b', 'Mend the lock'),
      items: [change('a', 'Begin'), change('b', 'Mend the lock')],
      buildset_refs: [change('b', 'Mend the lock')],
    };
    const given = await withMessages({ zuul, projects }, { commitMessage });
    expect(given.change_message).toBe(own);
    expect(Buffer.from(String(given.message), 'base64').toString()).toBe(own);
    expect(given.items).toMatchObject([{ change_message: 'Begin\n\nBody\n' }, { change_message: own }]);
    expect(given.buildset_refs).toMatchObject([{ change_message: own }]);
    expect(asked.length).toBe(2);
  });

  it('stay first lines where a commit is not here or all together would be too long', async () => {
    const { commitMessage } = mirror({ ['a'.repeat(40)]: 'x'.repeat(5_000_000) });
    const zuul = { ...change('b', 'Mend'), items: [change('a', 'Begin'), change('b', 'Mend')] };
    const given = await withMessages({ zuul, projects }, { commitMessage });
    expect(given).toEqual({ ...zuul, message: Buffer.from('Mend').toString('base64') });
  });

  it('are none for an update of a ref', async () => {
    const { asked, commitMessage } = mirror({});
    const { change_message: _, ...update } = change('c', '');
    const zuul = { ...update, items: [update] };
    expect(await withMessages({ zuul, projects }, { commitMessage })).toEqual(zuul);
    expect(asked).toEqual([]);
  });
});
