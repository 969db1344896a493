/**
 * The tree of nodes in memory, with ZooKeeper's rules: the embedded store's state.
 *
 * `apply` runs a list of operations as one transaction. When one fails, those before it are undone and `apply` throws;
 * a success returns `undo`, in case the journal cannot make it durable.
 *
 * Node ids are the journal's keys: never reused, and a node that `undo` brings back is the same object with the same id.
 */
import { assertNever } from '../../lib/assert-never.ts';
import { baseName, parentPath } from '../node-path.ts';
import { type Operation, type OperationResult, StoreError, type StoreErrorCode } from '../port.ts';

/** A node in memory; version and sequence count as in ZooKeeper. */
export interface TreeNode {
  readonly id: number;
  readonly path: string;
  /** Never changed in place: a set puts a new array here. */
  data: Uint8Array;
  version: number;
  /** Number of the transaction that created it, likewise `modified`. */
  readonly created: number;
  modified: number;
  /** Session of an ephemeral node. */
  readonly owner: string | undefined;
  readonly children: Set<string>;
  /** Names of the children in order, until the next change. */
  sortedChildren: readonly string[] | undefined;
  /** How many children were ever created here, sequential or not: the next suffix, as in ZooKeeper. */
  sequence: number;
}

/** What a watch is notified of. */
export interface NodeChange {
  readonly kind: 'created' | 'changed' | 'deleted';
  readonly node: TreeNode;
}

/** A transaction that took effect in memory and is not durable yet. */
export interface AppliedTransaction {
  readonly results: readonly OperationResult[];
  readonly changes: readonly NodeChange[];
  /** Undoes the transaction; valid only while no later transaction is applied. */
  undo(): void;
}

interface Transaction {
  readonly session: string;
  readonly number: number;
  readonly changes: NodeChange[];
  readonly inverses: (() => void)[];
}

const NOTHING = new Uint8Array(0);

/** Has the root from the beginning. The journal adds what it kept; after that only the server changes it. */
export class NodeTree {
  readonly #nodes = new Map<string, TreeNode>();
  readonly #ephemerals = new Map<string, Set<string>>();
  #lastId = 0;

  constructor() {
    this.restore({ id: 0, path: '/', data: NOTHING, version: 0, created: 0, modified: 0, sequence: 0 });
  }

  /** Restores a node from the journal; parents come before their children. */
  restore(
    kept: Pick<TreeNode, 'id' | 'path' | 'data' | 'version' | 'created' | 'modified' | 'sequence'>,
  ): void {
    const node: TreeNode = { ...kept, owner: undefined, children: new Set(), sortedChildren: undefined };
    this.#nodes.set(node.path, node);
    this.#lastId = Math.max(this.#lastId, node.id);
    if (node.path !== '/') this.#nodes.get(parentPath(node.path))?.children.add(baseName(node.path));
  }

  find(path: string): TreeNode | undefined {
    return this.#nodes.get(path);
  }

  parentOf(node: TreeNode): TreeNode | undefined {
    return this.#nodes.get(parentPath(node.path));
  }

  ephemeralsOf(session: string): readonly string[] {
    return [...(this.#ephemerals.get(session) ?? [])];
  }

  /** @throws StoreError and leaves the tree as it was. */
  apply(operations: readonly Operation[], session: string, number: number): AppliedTransaction {
    const transaction: Transaction = { session, number, changes: [], inverses: [] };
    const undo = (): void => {
      for (const inverse of transaction.inverses.reverse()) inverse();
    };
    const results: OperationResult[] = [];
    for (const [index, operation] of operations.entries()) {
      const result = this.#applyOne(operation, transaction);
      if (typeof result === 'string') {
        undo();
        throw new StoreError(result, operation.path, index);
      }
      results.push(result);
    }
    return { results, changes: transaction.changes, undo };
  }

  #applyOne(operation: Operation, transaction: Transaction): OperationResult | StoreErrorCode {
    switch (operation.kind) {
      case 'create':
        return this.#create(operation, transaction);
      case 'set':
        return this.#set(operation, transaction);
      case 'delete':
        return this.#delete(operation, transaction);
      case 'check':
        return this.#expect(operation) ?? { path: operation.path, version: operation.version };
      default:
        return assertNever(operation, 'operation');
    }
  }

  #create(
    operation: Operation & { kind: 'create' },
    transaction: Transaction,
  ): OperationResult | StoreErrorCode {
    const parent = this.#nodes.get(parentPath(operation.path));
    if (parent === undefined) return 'NoNode';
    const suffix = operation.sequential ? String(parent.sequence).padStart(10, '0') : '';
    const path = operation.path + suffix;
    if (this.#nodes.has(path)) return 'NodeExists';
    if (parent.owner !== undefined) return 'NoChildrenForEphemerals';
    const node: TreeNode = {
      id: ++this.#lastId,
      path,
      data: operation.data,
      version: 0,
      created: transaction.number,
      modified: transaction.number,
      owner: operation.ephemeral ? transaction.session : undefined,
      children: new Set(),
      sortedChildren: undefined,
      sequence: 0,
    };
    parent.sequence += 1;
    this.#attach(node, parent);
    transaction.inverses.push(() => {
      this.#detach(node, parent);
      parent.sequence -= 1;
    });
    transaction.changes.push({ kind: 'created', node });
    return { path, version: 0 };
  }

  #set(operation: Operation & { kind: 'set' }, transaction: Transaction): OperationResult | StoreErrorCode {
    const failure = this.#expect(operation);
    const node = this.#nodes.get(operation.path);
    if (failure !== undefined || node === undefined) return failure ?? 'NoNode';
    const { data, version, modified } = node;
    Object.assign(node, { data: operation.data, version: version + 1, modified: transaction.number });
    transaction.inverses.push(() => Object.assign(node, { data, version, modified }));
    transaction.changes.push({ kind: 'changed', node });
    return { path: node.path, version: node.version };
  }

  #delete(
    operation: Operation & { kind: 'delete' },
    transaction: Transaction,
  ): OperationResult | StoreErrorCode {
    const failure = this.#expect(operation);
    const node = this.#nodes.get(operation.path);
    const parent = this.#nodes.get(parentPath(operation.path));
    if (failure !== undefined || node === undefined || parent === undefined) return failure ?? 'NoNode';
    if (node.children.size > 0) return 'NotEmpty';
    this.#detach(node, parent);
    transaction.inverses.push(() => this.#attach(node, parent));
    transaction.changes.push({ kind: 'deleted', node });
    return { path: node.path, version: operation.version };
  }

  #expect(operation: { readonly path: string; readonly version: number }): StoreErrorCode | undefined {
    const node = this.#nodes.get(operation.path);
    if (node === undefined) return 'NoNode';
    return operation.version === -1 || operation.version === node.version ? undefined : 'BadVersion';
  }

  #attach(node: TreeNode, parent: TreeNode): void {
    this.#nodes.set(node.path, node);
    parent.children.add(baseName(node.path));
    parent.sortedChildren = undefined;
    if (node.owner === undefined) return;
    const owned = this.#ephemerals.get(node.owner) ?? new Set();
    this.#ephemerals.set(node.owner, owned.add(node.path));
  }

  #detach(node: TreeNode, parent: TreeNode): void {
    this.#nodes.delete(node.path);
    parent.children.delete(baseName(node.path));
    parent.sortedChildren = undefined;
    if (node.owner === undefined) return;
    const owned = this.#ephemerals.get(node.owner);
    owned?.delete(node.path);
    if (owned?.size === 0) this.#ephemerals.delete(node.owner);
  }
}
