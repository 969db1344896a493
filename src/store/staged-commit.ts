/**
 * A commit that is larger than one multi, still all or nothing: first stored, then decided in one multi, then carried out by
 * the holder of the fence at that time.
 *
 *     <path>/0000, 0001, …   the operations, in order, not carried out yet
 *     <path>/decided         from here on they will be
 *
 * A crash before `decided` leaves parts that the next holder removes; a crash after it leaves parts that the next holder
 * carries out, each in the multi that removes it. Operations that may fail (checks, contended writes) go into `guards`, which
 * are part of the deciding multi; the staged ones must only touch nodes that no process but the fence's holder writes.
 *
 *     await commitStaged({ fence, store, path, newId }, operations, guards);
 *     await finishStaged({ fence, store, path, newId });     // every new holder, before it reads anything
 */
import { recordCodec } from '../model/codec/record.ts';
import { flag, list, number, tagged, text, whole } from '../model/codec/schema.ts';
import { settle } from './connection.ts';
import type { Fence } from './fence.ts';
import { create, type Operation, remove, type Store } from './port.ts';
import { splitOperations } from './split-operations.ts';

/** The fence and place of one pipeline, for both writing a staged commit and finishing it. */
export interface StagedDeps {
  readonly fence: Pick<Fence, 'commit'>;
  readonly store: Store;
  /** Parent of the parts; made by the caller, empty unless a commit was interrupted. */
  readonly path: string;
  /** An operation id for each commit of the fence. */
  newId(): string;
}

type Head =
  | Exclude<Operation, { readonly data: Uint8Array }>
  | (Omit<Extract<Operation, { kind: 'create' }>, 'data'> & { readonly data: number })
  | (Omit<Extract<Operation, { kind: 'set' }>, 'data'> & { readonly data: number });

/** Operations with the size of their data in place of the data. */
export const stagedHeadsCodec = recordCodec(
  'staged-operations',
  1,
  list(
    tagged<Head, 'kind'>('kind', {
      create: { path: text, data: whole, ephemeral: flag, sequential: flag },
      set: { path: text, data: whole, version: number },
      delete: { path: text, version: number },
      check: { path: text, version: number },
    }),
  ),
);

/** A part is carried out together with its own removal, so it must leave room in a multi. */
const PART_BYTES = 940_000;
const DECIDED = 'decided';
const LINE_END = 10;

/** @throws StoreError of a guard: nothing is decided; `finishStaged` cleans up. */
export async function commitStaged(
  deps: StagedDeps,
  operations: readonly Operation[],
  guards: readonly Operation[],
): Promise<void> {
  const { fence, path, newId } = deps;
  for (const [index, part] of splitOperations(operations, PART_BYTES).entries())
    await fence.commit(
      [create(`${path}/${String(index).padStart(4, '0')}`, encodeOperations(part))],
      newId(),
    );
  await fence.commit([...guards, create(`${path}/${DECIDED}`)], newId());
  await finishStaged(deps);
}

/** @returns how an interrupted commit was settled; `nothing`: there was none. */
export async function finishStaged(deps: StagedDeps): Promise<'nothing' | 'removed' | 'carried-out'> {
  const { fence, store, path, newId } = deps;
  const names = (await settle(store, () => store.children(path))) ?? [];
  if (names.length === 0) return 'nothing';
  const parts = names.filter(name => name !== DECIDED).map(name => `${path}/${name}`);
  if (parts.length === names.length) {
    for (const chunk of splitOperations(parts.map(part => remove(part)))) await fence.commit(chunk, newId());
    return 'removed';
  }
  for (const part of parts) {
    const node = await settle(store, () => store.get(part));
    if (node === undefined) throw new Error(`part ${part} of a decided commit is gone`);
    await fence.commit([...decodeOperations(node.data), remove(part)], newId());
  }
  await fence.commit([remove(`${path}/${DECIDED}`)], newId());
  return 'carried-out';
}

/** One line, a record, then the bytes of all operations one after the other. */
export function encodeOperations(operations: readonly Operation[]): Uint8Array {
  const heads = operations.map(({ ...operation }) =>
    'data' in operation ? { ...operation, data: operation.data.byteLength } : operation,
  );
  const data = operations.flatMap(operation => ('data' in operation ? [operation.data] : []));
  return Buffer.concat([stagedHeadsCodec.encode(heads), Buffer.of(LINE_END), ...data]);
}

/** Reverses {@link encodeOperations}. @throws RecordError when the bytes are something else, or of a newer version. */
export function decodeOperations(bytes: Uint8Array): readonly Operation[] {
  const end = bytes.indexOf(LINE_END);
  const heads = stagedHeadsCodec.decode(end === -1 ? bytes : bytes.subarray(0, end));
  let at = end + 1;
  return heads.map(head => {
    if (!('data' in head)) return head;
    const data = bytes.subarray(at, at + head.data);
    at += head.data;
    return { ...head, data };
  });
}
