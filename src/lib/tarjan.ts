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
  const index = new Map<Node, number>();
  const low = new Map<Node, number>();
  const open: Node[] = [];
  const isOpen = new Set<Node>();
  const components: Node[][] = [];

  function enter(node: Node): Visit<Node> {
    index.set(node, index.size);
    low.set(node, index.size - 1);
    open.push(node);
    isOpen.add(node);
    return { node, next: edges(node)[Symbol.iterator]() };
  }

  function lower(node: Node, to: number): void {
    low.set(node, Math.min(low.get(node) ?? to, to));
  }

  function close(root: Node): void {
    const component: Node[] = [];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      isOpen.delete(node);
      component.push(node);
      if (node === root) break;
    }
    components.push(component);
  }

  for (const root of roots) {
    if (index.has(root)) continue;
    const path = [enter(root)];
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const step = visit.next.next();
      if (step.done !== true) {
        if (!index.has(step.value)) path.push(enter(step.value));
        else if (isOpen.has(step.value)) lower(visit.node, index.get(step.value) ?? 0);
        continue;
      }
      path.pop();
      const lowest = low.get(visit.node) ?? 0;
      if (lowest === index.get(visit.node)) close(visit.node);
      const parent = path.at(-1);
      if (parent !== undefined) lower(parent.node, lowest);
    }
  }
  return components;
}
