/** The walls between a job and its machine, as the executor found them at its start. */

/** What the wall limits or separates. */
export type WallName =
  /** Its own view of files, processes and network. */
  | 'sandbox'
  | 'system-calls'
  /** Of all processes of a build together. */
  | 'memory'
  | 'processes'
  | 'cpu'
  /** The kernel kills jobs before the service when memory runs out. */
  | 'oom'
  /** Bytes a build may write. */
  | 'disk'
  /** Files and directories it may write: inodes. */
  | 'files';

/** One wall and whether it stands. */
export interface Wall {
  readonly name: WallName;
  /** `off`: the settings ask for none. `missing`: this machine does not provide it. */
  readonly state: 'stands' | 'off' | 'missing';
  /** How the wall works, or why it is missing. One line for people. */
  readonly text: string;
}

/** For people, e.g. `memory: NO WALL (no control groups)`. */
export function wallText({ name, state, text }: Wall): string {
  switch (state) {
    case 'stands':
      return `${name}: ${text}`;
    case 'off':
      return `${name}: off (${text})`;
    case 'missing':
      return `${name}: NO WALL (${text})`;
  }
}
