import { expect, it } from 'vitest';
import { MANAGER_NAMES, type ManagerName } from '../../../../src/model/pipeline.ts';
import { dependent } from '../../../../src/pipeline/manager/dependent.ts';
import type { Manager } from '../../../../src/pipeline/manager/manager.ts';
import { MANAGERS } from '../../../../src/pipeline/manager/managers.ts';

it('a manager that is added to the union and has no answers does not compile', () => {
  // @ts-expect-error Property 'another' is missing
  const table: Record<ManagerName | 'another', Manager> = MANAGERS;
  expect(Object.keys(table).toSorted()).toEqual(MANAGER_NAMES.toSorted());
});

it('a manager that leaves a question open does not compile', () => {
  const { success: _, ...rest } = dependent;
  // @ts-expect-error Property 'success' is missing
  const open: Manager = rest;
  expect(open.success).toBeUndefined();
});
