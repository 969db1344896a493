/**
 * Random transactions against a store and against the simplest thing that could be right: a map that is copied before
 * each transaction. After each one the outcome and the whole tree must agree.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { baseName, parentPath } from '../../../src/store/node-path.ts';
import {
  check,
  create,
  type Operation,
  remove,
  type Store,
  StoreError,
  type StoreErrorCode,
  set,
} from '../../../src/store/port.ts';
import { freshRoot } from './fresh-root.ts';

interface ModelNode {
  readonly data: string;
  readonly version: number;
  readonly owner: string | undefined;
  /** Highest sequence number given out below this node. */
  readonly lastSequence: number;
}
type Model = Map<string, ModelNode>;
type Outcome =
  | { readonly kind: 'done'; readonly model: Model }
  | { readonly kind: 'failed'; readonly code: StoreErrorCode; readonly at: number };

/** One step of a run, with paths relative to the run's root. */
interface Step {
  readonly session: 0 | 1;
  readonly operations: readonly Operation[];
}

const path = fc.constantFrom('/a', '/b', '/a/a', '/a/b', '/b/a', '/a/a/a');
const version = fc.oneof(
  { weight: 3, arbitrary: fc.constant(-1) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 2 }) },
);
const data = fc.string({ maxLength: 6 }).map(text => new TextEncoder().encode(text));
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        path,
        data,
        fc.record({ ephemeral: fc.integer({ max: 3, min: 0 }).map(n => n === 0), sequential: fc.boolean() }),
      )
      .map(([where, what, how]) => create(where, what, how)),
  },
  { weight: 3, arbitrary: fc.tuple(path, data, version).map(([where, what, at]) => set(where, what, at)) },
  { weight: 2, arbitrary: fc.tuple(path, version).map(([where, at]) => remove(where, at)) },
  { weight: 1, arbitrary: fc.tuple(path, version).map(([where, at]) => check(where, at)) },
);
const step: fc.Arbitrary<Step> = fc.record({
  session: fc.constantFrom<0 | 1>(0, 1),
  operations: fc.array(operation, { minLength: 1, maxLength: 5 }),
});

const children = (model: Model, of: string): string[] =>
  [...model.keys()].filter(key => key !== of && parentPath(key) === of).map(baseName);

/** `madePaths`: what the store answered, for the names it chose itself. */
function predict(
  before: Model,
  operations: readonly Operation[],
  session: string,
  madePaths: readonly string[],
): Outcome {
  const model: Model = new Map(before);
  for (const [at, op] of operations.entries()) {
    const failed = (code: StoreErrorCode): Outcome => ({ kind: 'failed', code, at });
    const node = model.get(op.path);
    if (op.kind === 'create') {
      const parent = model.get(parentPath(op.path));
      if (parent === undefined) return failed('NoNode');
      const made = op.sequential ? (madePaths[at] ?? `${op.path}-unknown-${at}`) : op.path;
      if (model.has(made)) return failed('NodeExists');
      if (parent.owner !== undefined) return failed('NoChildrenForEphemerals');
      const sequence =
        op.sequential && madePaths[at] !== undefined ? Number(made.slice(-10)) : parent.lastSequence;
      if (op.sequential && madePaths[at] !== undefined) expect(sequence).toBeGreaterThan(parent.lastSequence);
      model.set(parentPath(op.path), { ...parent, lastSequence: sequence });
      const owner = op.ephemeral ? session : undefined;
      model.set(made, { data: String(op.data), version: 0, owner, lastSequence: -1 });
      continue;
    }
    if (node === undefined) return failed('NoNode');
    if (op.version !== -1 && op.version !== node.version) return failed('BadVersion');
    if (op.kind === 'set') model.set(op.path, { ...node, data: String(op.data), version: node.version + 1 });
    if (op.kind === 'delete' && children(model, op.path).length > 0) return failed('NotEmpty');
    if (op.kind === 'delete') model.delete(op.path);
  }
  return { kind: 'done', model };
}

async function readTree(
  store: Store,
  at: string,
  into: Map<string, Omit<ModelNode, 'lastSequence'>>,
): Promise<void> {
  const node = await store.get(at);
  if (node === undefined) return;
  into.set(at, { data: String(node.data), version: node.stat.version, owner: node.stat.ephemeralOwner });
  const names = (await store.children(at)) ?? [];
  expect(node.stat.childCount).toBe(names.length);
  for (const name of names) await readTree(store, `${at}/${name}`, into);
}

const below = (root: string, op: Operation): Operation => ({ ...op, path: root + op.path });

async function runSteps(stores: readonly [Store, Store], steps: readonly Step[]): Promise<void> {
  const root = freshRoot();
  await stores[0].multi([create(root)]);
  let model: Model = new Map([[root, { data: '', version: 0, owner: undefined, lastSequence: -1 }]]);
  for (const { session, operations } of steps) {
    const store = stores[session];
    const absolute = operations.map(op => below(root, op));
    await store.sync();
    const answer = await store.multi(absolute).catch((error: unknown) => {
      if (error instanceof StoreError) return error;
      throw error;
    });
    const made = answer instanceof StoreError ? [] : answer.map(result => result.path);
    const expected = predict(model, absolute, store.sessionId, made);
    if (answer instanceof StoreError) {
      expect({ kind: 'failed', code: answer.code, at: answer.failedOperation }).toEqual(expected);
    } else if (expected.kind === 'failed') {
      expect.fail(`should have failed with ${expected.code} at ${expected.at}`);
    } else {
      model = expected.model;
    }
    const tree = new Map();
    await readTree(store, root, tree);
    const plain = [...model].map(([key, { lastSequence: _, ...rest }]) => [key, rest]);
    expect(Object.fromEntries(tree)).toEqual(Object.fromEntries(plain));
  }
}

export function describeModel(sessions: () => { store: Store; other: Store }): void {
  describe('model', () => {
    test('random transactions of two sessions do what a copied map does', async () => {
      const { store, other } = sessions();
      const steps = fc.array(step, { maxLength: 25 });
      await fc.assert(
        fc.asyncProperty(steps, async run => await runSteps([store, other], run)),
        { numRuns: 60 },
      );
    });
  });
}
