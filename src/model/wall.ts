/** What stands between a job and the machine it runs on, as an executor found at its start. */

export type WallName =
  /** Its own view of files, processes and network. */
  | 'sandbox'
  | 'system-calls'
  /** Of all processes of a build together. */
  | 'memory'
  | 'processes'
  | 'cpu'
  /** Whom the kernel kills first when the machine is out of memory. */
  | 'oom'
  /** Bytes a build may write. */
  | 'disk'
  /** Files and directories it may write: inodes. */
  | 'files';

export interface Wall {
  readonly name: WallName;
  /** `off`: the settings ask for none. `missing`: this machine does not let us have it. */
  readonly state: 'stands' | 'off' | 'missing';
  /** How it stands, or why it does not. One line for people. */
  readonly text: string;
}

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
