import { expect, it } from 'vitest';
import type { GerritAnswer, GerritApi } from '../../../../../drivers/gerrit/api/port.ts';
import { openChangesOfGerrit } from '../../../../../drivers/gerrit/reading/open-changes.ts';
import type { Json } from '../../../../../src/model/job.ts';

const call = { project: 'acme/app', signal: new AbortController().signal };

/** @param total open changes; one of them comes again on the next page, as when it was updated meanwhile. */
function gerrit(total: number) {
  const asked: string[] = [];
  const api: GerritApi = {
    async ask({ path }): Promise<GerritAnswer<Json>> {
      asked.push(decodeURIComponent(path));
      const start = Number(/&S=(\d+)/.exec(path)?.[1] ?? 0);
      const count = Math.min(500, total - start);
      const data: { [name: string]: Json }[] = Array.from({ length: count }, (_, index) => ({
        ...{ _number: Math.max(1, total - start - index), project: 'acme/app', status: 'NEW' },
      }));
      if (start > 0) data[0] = { _number: total, project: 'acme/app', status: 'NEW' };
      if (start + count < total) data[count - 1] = { ...data[count - 1], _more_changes: true };
      return { kind: 'ok', status: 200, data };
    },
  };
  return { asked, of: (most: number) => openChangesOfGerrit(most, call, { api, connection: 'gerrit' }) };
}

it('lists the open changes of a project page by page, each once', async () => {
  const { asked, of } = gerrit(620);
  const found = await of(5_000);
  expect(found).toMatchObject({ kind: 'ok', data: { isMore: false } });
  expect(found.kind === 'ok' && new Set(found.data.changes).size).toBe(619);
  const query = 'changes/?q=status:open project:"acme/app"&n=500';
  expect(asked).toEqual([query, `${query}&S=500`]);
});

it('lists no more than are wanted, and says that there are more', async () => {
  const { asked, of } = gerrit(9_000);
  const found = await of(700);
  expect(found).toMatchObject({ kind: 'ok', data: { isMore: true } });
  expect(found.kind === 'ok' && found.data.changes.length).toBe(700);
  expect(asked).toHaveLength(2);
});
