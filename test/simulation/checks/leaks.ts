/** What must not be left when everything has come to rest: locks and claims of the dead, marks, answers, unused graphs. */
import type { TreeNode } from '../../../src/store/embedded/tree.ts';
import type { World } from '../world.ts';
import type { Check, Complain } from './check.ts';

export class Leaks implements Check {
  readonly #world: World;
  readonly #complain: Complain;

  readonly #unswept: boolean;

  /** @param unswept the sweepers had no time: only what needs none is looked at. */
  constructor(world: World, complain: Complain, unswept: boolean) {
    this.#world = world;
    this.#complain = complain;
    this.#unswept = unswept;
  }

  finished(): void {
    const { server, paths } = this.#world;
    for (const node of this.#all('/gatehouse')) {
      if (node.owner === undefined) continue;
      const session = server.sessions.get(node.owner);
      // The sessions of the dead live on for a while.
      if (session?.alive !== true)
        this.#complain('leak', `${node.path} belongs to session ${node.owner}, which is over`);
    }
    for (const lock of this.#all(paths.tenants).filter(node => node.path.endsWith('/lock'))) {
      const owners = [...lock.children].map(name => server.leader.find(`${lock.path}/${name}`)?.owner);
      const twice = owners.find((owner, index) => owners.indexOf(owner) !== index);
      if (twice !== undefined) this.#complain('leak', `session ${twice} stands twice at ${lock.path}`);
    }
    if (this.#unswept) return;
    for (const kind of ['merge', 'build'] as const) {
      this.#none(`${paths.requests(kind)}/cancelled`, 'marks to cancel');
      this.#none(`${paths.requests(kind)}/bodies`, 'bodies of requests');
    }
    this.#none(paths.tenant('acme').answers, 'answers of mergers');
    this.#none(paths.blobs, 'job graphs');
  }

  #none(path: string, what: string): void {
    const left = [...(this.#world.server.leader.find(path)?.children ?? [])];
    if (left.length > 0) this.#complain('leak', `${left.length} ${what} are left at ${path}`);
  }

  #all(path: string): readonly TreeNode[] {
    const { leader } = this.#world.server;
    const node = leader.find(path);
    if (node === undefined) return [];
    return [node, ...[...node.children].flatMap(name => this.#all(`${path}/${name}`))];
  }
}
