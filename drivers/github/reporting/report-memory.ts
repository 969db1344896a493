/** What a report hands to the next one of its item: where GitHub has its check run and its comment. Pure. */
import { LONGEST_MEMORY } from '../../../src/model/earlier-reports.ts';
import type { Json } from '../../../src/model/job.ts';

/** Ids are GitHub's. */
export interface ReportMemory {
  readonly run?: { readonly id: number; readonly commit: string };
  readonly comment?: number;
}

/** Stored, and perhaps by another release: what is not as expected is left out, and is looked for at GitHub. */
export function readMemory(memory: Json): ReportMemory {
  const { run, comment } = fieldsOf(memory);
  const { id, commit } = fieldsOf(run);
  return {
    ...(isId(id) && typeof commit === 'string' ? { run: { id, commit } } : {}),
    ...(isId(comment) ? { comment } : {}),
  };
}

/** Undefined: there is nothing to remember. */
export function writtenMemory({ run, comment }: ReportMemory): Json | undefined {
  const memory = {
    ...(run === undefined ? {} : { run: { id: run.id, commit: run.commit } }),
    ...(comment === undefined ? {} : { comment }),
  };
  const isEmpty = Object.keys(memory).length === 0;
  return isEmpty || JSON.stringify(memory).length > LONGEST_MEMORY ? undefined : memory;
}

function fieldsOf(value: Json | undefined): { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [name: string]: Json })
    : {};
}

function isId(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
