/** What the set-up of a run hands to its tests. Free of vitest's own code, which loads in a test worker only. */
import type { FoundServer } from '../fake/zookeeper/find-server.ts';

type ProvidedZooKeeper =
  | {
      readonly kind: 'found';
      /** For servers of one's own: `startZooKeeper({ server })`. */
      readonly server: FoundServer;
      /** Of the server all tests of the run share. */
      readonly host: string;
      readonly port: number;
    }
  | AbsentTool;

/** A program of the machine. */
export type ProvidedProgram =
  | { readonly kind: 'found' /** Its path. */; readonly program: string }
  | AbsentTool;

export interface AbsentTool {
  readonly kind: 'none';
  readonly reason: string;
  /** The run asked to go without it (`GATEHOUSE_TEST_…=none`): its tests are skipped on any machine. */
  readonly declined: boolean;
}

declare module 'vitest' {
  interface ProvidedContext {
    zooKeeper: ProvidedZooKeeper;
    /** The same path for jobs. */
    ansible: ProvidedProgram;
    bubblewrap: ProvidedProgram;
    chromium: ProvidedProgram;
    nginx: ProvidedProgram;
    jq: ProvidedProgram;
    openSsh: ProvidedProgram;
    sshd: ProvidedProgram;
  }
}

/** In the name of each test that needs a real server: those skipped are counted by it. */
export const ON_REAL_ZOOKEEPER = '(real ZooKeeper)';

/** In the name of each test that needs Ansible, likewise. */
export const ON_ANSIBLE = '(Ansible)';

/** In the name of each test that needs bubblewrap and a system that lets it make namespaces. */
export const ON_BUBBLEWRAP = '(bubblewrap)';

/** In the name of each test that needs a browser. */
export const ON_CHROMIUM = '(Chromium)';

/** In the name of each test that needs a reverse proxy. */
export const ON_NGINX = '(nginx)';

/** In the name of each test that needs the programs of the migration guide. */
export const ON_JQ = '(jq and curl)';

/** In the name of each test that needs the clients of an ssh agent. */
export const ON_OPENSSH = '(OpenSSH)';

/** In the name of each test that needs a server of ssh. */
export const ON_SSHD = '(sshd)';

/** @param variable e.g. `GATEHOUSE_TEST_ANSIBLE`. */
export function declined(variable: string): AbsentTool {
  return { kind: 'none', reason: `${variable}=none`, declined: true };
}

export function absent(reason: string): AbsentTool {
  return { kind: 'none', reason, declined: false };
}
