/** A folder with `nodes.yaml` and the private key that it names, for services whose jobs run on hosts; and real machines for it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ProvidedProgram } from '../setup/provided.ts';
import { keyPair, type SshHost, startSshHost } from './ssh-host.ts';

/** A machine that the file names; all have the label `debian` and the user `root`. */
export interface NamedHost {
  readonly name: string;
  readonly port: number;
  readonly hostKey: string;
  /** Default none. */
  readonly zone?: string;
}

export interface NodesFolder extends AsyncDisposable {
  readonly folder: string;
  /** Of the settings: it names the file. */
  readonly section: string;
  /** A line of the private key that is in nothing else. */
  readonly canary: string;
}

/** @param lines of the file besides its hosts. */
export async function nodesFolder(
  hosts: readonly NamedHost[],
  { privateKey = keyPair().private, lines = '' } = {},
): Promise<NodesFolder> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-nodes-'));
  const nodes = path.join(folder, 'nodes.yaml');
  const texts = hosts.map(
    ({ name, port, hostKey, zone }) =>
      `  - {name: ${name}, address: 127.0.0.1, port: ${port}, username: root, host-key: ${hostKey}, labels: [debian]${zone === undefined ? '' : `, executor-zone: ${zone}`}}\n`,
  );
  await writeFile(path.join(folder, 'key'), privateKey, { mode: 0o600 });
  await writeFile(nodes, `private-key: ${folder}/key\n${lines}hosts:\n${texts.join('')}`);
  return {
    folder,
    section: `[nodes]\nconfig = ${nodes}\n`,
    canary: privateKey.split('\n')[3] ?? privateKey,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

export interface SshdHosts extends NodesFolder {
  /** In the order of their names. */
  readonly machines: readonly SshHost[];
}

/**
 * Real machines that let our key in.
 *
 * @param more hosts that the file names besides, made of the first machine. @param zone of the machines; undefined: none.
 */
export async function sshdHosts(
  sshd: ProvidedProgram,
  names: readonly string[],
  more: (first: SshHost) => readonly NamedHost[] = () => [],
  zone?: string,
): Promise<SshdHosts> {
  if (sshd.kind !== 'found') throw new Error(sshd.reason);
  await using opening = new AsyncDisposableStack();
  const key = keyPair();
  const machines: SshHost[] = [];
  for (const _ of names) machines.push(opening.use(await startSshHost(sshd.program, key.public)));
  const named = names.flatMap((name, at) => {
    const machine = machines[at];
    return machine === undefined
      ? []
      : [
          {
            ...{ name, port: machine.port, hostKey: machine.hostKey },
            ...(zone === undefined ? {} : { zone }),
          },
        ];
  });
  const others = machines[0] === undefined ? [] : more(machines[0]);
  const nodes = opening.use(await nodesFolder([...others, ...named], { privateKey: key.private }));
  const lifetime = opening.move();
  return { ...nodes, machines, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}
