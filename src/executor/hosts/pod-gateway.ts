/**
 * The gateway to a pod: an ssh server in the executor that runs what it is asked to run as commands in the pod, through the API server. So a job
 * reaches a pod as it reaches any other node, with the same files and variables, and needs neither `kubectl` nor keys of the cluster.
 *
 *     job ── ssh ──► socket of the build ──► this gateway ── WebSocket ──► API server ──► pod
 *
 * The socket is the build's alone, so who comes through it is let in. Commands, shells and terminals are served; forwarded ports, agents and
 * `sftp` are refused.
 */
import type { Socket } from 'node:net';
import ssh2, { type Session } from 'ssh2';
import { BUILD_MARK } from '../../nodes/host-places.ts';
import { execInPod } from '../../nodes/kubernetes/exec-in-pod.ts';
import type { KubeClient } from '../../nodes/kubernetes/kube-client.ts';

export interface PodGateway {
  join(socket: Socket): void;
  /** Why a command did not run to its end, of the first where that happened; undefined: each did. */
  broken(): string | undefined;
}

/** What a gateway shows, made once for each executor. */
export interface GatewayKey {
  readonly privateKey: string;
  /** As in `known_hosts`. */
  readonly publicKey: string;
}

export function makeGatewayKey(): GatewayKey {
  for (;;) {
    const { private: privateKey, public: publicKey } = ssh2.utils.generateKeyPairSync('ed25519');
    // ssh2 drops the zero that one in 256 public keys begins with, and cannot read such a pair.
    if (!(ssh2.utils.parseKey(privateKey) instanceof Error)) return { privateKey, publicKey };
  }
}

/** What a client learns when the command's end is not known, as from `ssh` itself. */
const LOST_STATUS = 255;

export function openPodGateway(
  client: KubeClient,
  { pod, build }: { readonly pod: string; readonly build: string },
  { privateKey }: GatewayKey,
): PodGateway {
  let trouble: string | undefined;
  const server = new ssh2.Server({ hostKeys: [privateKey] }, connection => {
    const over = new AbortController();
    connection
      .on('authentication', context => context.accept())
      .on('session', accept => serve(accept(), over.signal))
      .on('close', () => over.abort())
      // The job may end it at any moment.
      .on('error', () => over.abort());
  });

  function serve(session: Session, closed: AbortSignal): void {
    let hasTerminal = false;
    session
      .on('pty', accept => {
        hasTerminal = true;
        accept?.();
      })
      .on('env', accept => accept?.())
      .on('window-change', accept => accept?.())
      .on('exec', (accept, _, { command }) => void run(accept(), command, hasTerminal, closed))
      .on('shell', accept => void run(accept(), undefined, hasTerminal, closed));
  }

  async function run(
    channel: ssh2.ServerChannel,
    command: string | undefined,
    hasTerminal: boolean,
    closed: AbortSignal,
  ): Promise<void> {
    const gone = new AbortController();
    channel.on('close', () => gone.abort()).on('error', () => gone.abort());
    const signal = AbortSignal.any([closed, gone.signal]);
    const end = await execInPod(client, pod, inPod(build, command), {
      ...{ input: channel, output: channel, errors: channel.stderr, signal },
      ...(hasTerminal ? { terminal: true } : {}),
    });
    if (signal.aborted) return;
    if (end.kind === 'broken') {
      trouble ??= end.reason;
      channel.stderr.write(`gatehouse: ${end.reason}\n`);
    }
    channel.exit(end.kind === 'ended' ? end.status : LOST_STATUS);
    channel.end();
  }

  return {
    join: socket => server.injectSocket(socket),
    broken: () => trouble,
  };
}

/** As a login over ssh would run it: in the home directory, by the shell, with the mark of the build. */
export function inPod(build: string, command: string | undefined): readonly string[] {
  const start = `cd 2>/dev/null; ${BUILD_MARK}=${build}; export ${BUILD_MARK}; `;
  return command === undefined
    ? ['/bin/sh', '-c', `${start}exec /bin/sh -l`]
    : ['/bin/sh', '-c', `${start}exec /bin/sh -c "$0"`, command];
}
