/** What the set-up of a run hands to its tests. Free of vitest's own code, which loads in a test worker only. */
import type { FoundServer } from '../fake/zookeeper/find-server.ts';

export type ProvidedZooKeeper =
  | {
      readonly kind: 'found';
      /** For servers of one's own: `startZooKeeper({ server })`. */
      readonly server: FoundServer;
      /** Of the server all tests of the run share. */
      readonly host: string;
      readonly port: number;
    }
  | { readonly kind: 'none'; readonly reason: string };

export type ProvidedAnsible =
  | { readonly kind: 'found' /** Its path, the same for jobs. */; readonly program: string }
  | { readonly kind: 'none'; readonly reason: string };

declare module 'vitest' {
  interface ProvidedContext {
    zooKeeper: ProvidedZooKeeper;
    ansible: ProvidedAnsible;
  }
}

/** In the name of each test that needs a real server: those skipped are counted by it. */
export const ON_REAL_ZOOKEEPER = '(real ZooKeeper)';

/** In the name of each test that needs Ansible, likewise. */
export const ON_ANSIBLE = '(Ansible)';
