/**
 * Strongly connected components of a directed graph (Tarjan 1972), without recursion: a chain of dependencies may be
 * longer than the stack is deep.
 *
 *     stronglyConnected(['a'], node => ({ a: ['b'], b: ['c'], c: ['b'] })[node] ?? [])
 *     // [['c', 'b'], ['a']]
 *
 * Components come in reverse topological order: a component is listed before those that lead to it, which is the order
 * in which dependencies must be handled.
 */
interface Visit<Node> {
  readonly node: Node;
  readonly next: Iterator<Node>;
}

/**
 * @param roots where to start; everything reachable from them is covered.
 * @param edges the nodes a node leads to; asked once per node.
 */
export function stronglyConnected<Node>(
  roots: Iterable<Node>,
  edges: (node: Node) => Iterable<Node>,
): Node[][] {
  const search = new Search(edges);
  for (const root of roots) search.from(root);
  return search.components;
}

class Search<Node> {
  readonly components: Node[][] = [];
  readonly #edges: (node: Node) => Iterable<Node>;
  readonly #index = new Map<Node, number>();
  readonly #low = new Map<Node, number>();
  readonly #open: Node[] = [];
  readonly #isOpen = new Set<Node>();

  constructor(edges: (node: Node) => Iterable<Node>) {
    this.#edges = edges;
  }

  from(root: Node): void {
    if (this.#index.has(root)) return;
    const path = [this.#enter(root)];
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const step = visit.next.next();
      if (step.done === true) this.#leave(path);
      else if (!this.#index.has(step.value)) path.push(this.#enter(step.value));
      else if (this.#isOpen.has(step.value)) this.#lower(visit.node, this.#index.get(step.value) ?? 0);
    }
  }

  #enter(node: Node): Visit<Node> {
    this.#index.set(node, this.#index.size);
    this.#low.set(node, this.#index.size - 1);
    this.#open.push(node);
    this.#isOpen.add(node);
    return { node, next: this.#edges(node)[Symbol.iterator]() };
  }

  #leave(path: Visit<Node>[]): void {
    const visit = path.pop();
    if (visit === undefined) return;
    const lowest = this.#low.get(visit.node) ?? 0;
    if (lowest === this.#index.get(visit.node)) this.#close(visit.node);
    const parent = path.at(-1);
    if (parent !== undefined) this.#lower(parent.node, lowest);
  }

  #lower(node: Node, to: number): void {
    this.#low.set(node, Math.min(this.#low.get(node) ?? to, to));
  }

  #close(root: Node): void {
    const component: Node[] = [];
    for (let node = this.#open.pop(); node !== undefined; node = this.#open.pop()) {
      this.#isOpen.delete(node);
      component.push(node);
      if (node === root) break;
    }
    this.components.push(component);
  }
}
