/**
 * The git driver's conversations with the code host ({@link ProjectGit}), over the simulated network. Everything else of the
 * driver is the real one. A machine has the commits it fetched or made; the host has all that was pushed to it.
 */
import { parseBranchTemplate } from '../../../drivers/git/branch-template.ts';
import { createLanding } from '../../../drivers/git/landing.ts';
import { createListener } from '../../../drivers/git/listener.ts';
import { HostFailed, type ProjectGit } from '../../../drivers/git/remote-git.ts';
import { createReporter } from '../../../drivers/git/reporter.ts';
import { createSource } from '../../../drivers/git/source.ts';
import type { Connection } from '../../../src/driver/connection.ts';
import { createHostHealth } from '../../../src/driver/host-health.ts';
import type { ObjectId } from '../../../src/git/objects/object-id.ts';
import { pause } from '../../../src/lib/pause.ts';
import { type ProjectKey, projectIdOf } from '../../../src/model/project.ts';
import type { Incarnation } from '../kernel/incarnation.ts';
import type { CodeHost } from './code-host.ts';
import { type RemoteCall, RemoteTrouble } from './remote-call.ts';

export const CONNECTION = 'local';

const TEMPLATES = {
  proposals: template('for/{branch}/{topic}'),
  approvals: template('gate/{branch}/{topic}'),
};

function template(source: string) {
  const parsed = parseBranchTemplate(source);
  if (parsed.kind === 'invalid') throw new Error(parsed.reason);
  return parsed.template;
}

export interface HostAccess {
  readonly host: CodeHost;
  readonly call: RemoteCall;
}

/** Commits of one machine. */
type Mirror = Set<ObjectId>;

function openProjectGit(
  project: ProjectKey,
  life: Incarnation,
  { host, call }: HostAccess,
  mirror: Mirror,
  effect: (what: string) => void,
): ProjectGit {
  const { name } = projectIdOf(project);
  const { objects } = host;
  const ask = async <T>(label: string, serve: () => T): Promise<T> => {
    try {
      return await call(life, 'host', `${label} ${name}`, serve);
    } catch (error) {
      if (!(error instanceof RemoteTrouble)) throw error;
      throw new HostFailed(project, { message: error.message, retryable: true });
    }
  };
  const fetchable = (commit: ObjectId) =>
    [...host.repository(name).refs.values()].some(tip => objects.isAncestor(commit, tip));
  const take = (commit: ObjectId) => {
    for (const each of objects.ancestors(commit)) mirror.add(each);
  };
  return {
    refs: () => ask('refs', () => new Map(host.repository(name).refs)),
    async bring(wants) {
      const missing = wants.filter(({ commit }) => !mirror.has(commit));
      if (missing.length === 0) return [];
      const found = await ask('fetch', () => missing.filter(({ commit }) => fetchable(commit)));
      for (const { commit } of found) take(commit);
      return missing
        .filter(({ commit }) => !mirror.has(commit))
        .map(({ commit }) => ({ commit, reason: 'moved', text: 'not at the remote any more' }));
    },
    async bringRefs(refs) {
      const tips = await ask('fetch', () => refs.flatMap(ref => host.repository(name).refs.get(ref) ?? []));
      for (const tip of tips) take(tip);
    },
    has: async commit => mirror.has(commit),
    async text(commit) {
      const { message } = objects.get(commit);
      return { subject: message.split('\n')[0] ?? '', message, author: 'Dev' };
    },
    async beyond(tip, heads) {
      const known = objects.ancestors(tip);
      const graph = new Map<ObjectId, readonly ObjectId[]>();
      for (const head of heads) {
        for (const commit of objects.ancestors(head))
          if (!known.has(commit)) graph.set(commit, objects.get(commit).parents);
      }
      return graph;
    },
    isAncestor: async (ancestor, descendant) =>
      mirror.has(ancestor) && mirror.has(descendant) && objects.isAncestor(ancestor, descendant),
    peel: async ids => new Map(ids.filter(id => mirror.has(id)).map(id => [id, id])),
    // The simulation merges in the mode `merge` alone.
    holds: async (state, change) => objects.isAncestor(change, state),
    async merge(base, { change, message }) {
      const merged = objects.merge(base, change, message);
      if (merged.kind !== 'merged') return undefined;
      mirror.add(merged.commit);
      return merged.commit;
    },
    async push(changes) {
      effect(`push to ${name}: ${changes.map(({ ref }) => ref).join(', ')}`);
      const stale = await ask('push', () => host.push(name, changes, life.name));
      return stale.length === 0
        ? { kind: 'pushed' }
        : { kind: 'rejected', nature: 'gone-ref', text: `stale: ${stale.join(', ')}` };
    },
    async note(_ref, commit, text) {
      effect(`note on ${commit} of ${name}`);
      await ask('note', () => host.note(name, commit, text, life.name));
      return { kind: 'noted' };
    },
  };
}

/** The connection as one process has it. @param effect called before anything is changed at the host. */
export function openConnection(
  life: Incarnation,
  access: HostAccess,
  effect: (what: string) => void,
): Connection {
  const mirrors = new Map<ProjectKey, Mirror>();
  const openGit = async (project: ProjectKey): Promise<ProjectGit> => {
    const mirror = mirrors.get(project) ?? new Set();
    mirrors.set(project, mirror);
    return openProjectGit(project, life, access, mirror, effect);
  };
  const { clock, log } = life;
  const reporter = createReporter({ log, openGit, secrets: [] });
  return {
    name: CONNECTION,
    driver: 'git',
    canonicalHostname: CONNECTION,
    remote: async project => ({ url: `sim:${project}` }),
    publicUrl: () => undefined,
    source: createSource({
      connection: CONNECTION,
      canonicalHostname: CONNECTION,
      publicUrl: () => undefined,
      clock,
      templates: TEMPLATES,
      openGit,
      health: createHostHealth(() => null),
      announces: true,
      readOnly: false,
    }),
    listener: createListener({
      log,
      openGit,
      get pollInterval() {
        return access.host.pollInterval;
      },
      wait: pause,
      random: () => life.random.next(),
    }),
    reporter,
    landing: createLanding({ templates: TEMPLATES, openGit, secrets: [] }),
    close: async () => {},
  };
}
