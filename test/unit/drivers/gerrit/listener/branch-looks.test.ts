import { expect, test } from 'vitest';
import type { GerritApi, GerritCall } from '../../../../../drivers/gerrit/api/port.ts';
import { type BranchLook, createBranchLooks } from '../../../../../drivers/gerrit/listener/branch-looks.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

/** A Gerrit whose projects all have one branch, at the same commit. */
function gerritWith(state: { revision: string; away?: string }) {
  let asking = 0;
  let most = 0;
  const api: Pick<GerritApi, 'ask'> = {
    async ask(_, { project }) {
      asking += 1;
      most = Math.max(most, asking);
      await new Promise(resolve => setImmediate(resolve));
      asking -= 1;
      if (project === state.away) return { kind: 'refused', status: 404, text: 'Not found' };
      return { kind: 'ok', status: 200, data: [{ ref: 'refs/heads/main', revision: state.revision }] };
    },
  };
  return { looks: createBranchLooks(api), most: () => most };
}

const call: Omit<GerritCall, 'project'> = { signal: new AbortController().signal, steps: () => {} };
const projects = Array.from({ length: 40 }, (_, index) => `acme/p${index}`);
const nowhere = async () => {};

test('several projects are asked about at a time, and no more than eight', async () => {
  const { looks, most } = gerritWith({ revision: A });
  const found: string[] = [];
  const isWhole = await looks.compare(
    projects,
    Number.POSITIVE_INFINITY,
    call,
    async (project, { isFirst }) => {
      if (isFirst) found.push(project);
    },
  );
  expect(isWhole).toBe(true);
  expect(found.toSorted()).toEqual(projects.toSorted());
  expect(most()).toBe(8);
});

test('projects take turns where not all are looked at', async () => {
  const { looks } = gerritWith({ revision: A });
  const found: string[] = [];
  for (let pass = 0; pass < 2; pass++)
    await looks.compare(projects, 20, call, async project => void found.push(project));
  expect(found.toSorted()).toEqual(projects.toSorted());
});

test('a move that could not be stored is found again', async () => {
  const state = { revision: A };
  const { looks } = gerritWith(state);
  await looks.compare(['acme/app'], 1, call, nowhere);
  state.revision = B;
  const failing = looks.compare(['acme/app'], 1, call, async () => {
    throw new Error('no contact with the store');
  });
  await expect(failing).rejects.toThrow('no contact with the store');
  const found: BranchLook[] = [];
  await looks.compare(['acme/app'], 1, call, async (_, look) => void found.push(look));
  expect(found).toEqual([{ isFirst: false, moves: [{ ref: 'refs/heads/main', before: A, after: B }] }]);
});

test('a project that Gerrit does not list hides no other', async () => {
  const { looks } = gerritWith({ revision: A, away: 'acme/p3' });
  const found: string[] = [];
  const isWhole = await looks.compare(
    projects,
    projects.length,
    call,
    async project => void found.push(project),
  );
  expect(isWhole).toBe(false);
  expect(found.toSorted()).toEqual(projects.filter(name => name !== 'acme/p3').toSorted());
});
