/**
 * How a sandbox listens for its job's spans. The sandbox has a network of its own, so the socket has to be created inside; the
 * job must find it when it begins, and no process should have to forward for as long as it runs:
 *
 *     service ── spawner ── (unshare, bwrap) ── sh ── node: listen on 127.0.0.1:4318, pass the socket up, end
 *        ◄────────── listening socket ──────────────────┘
 *                                               sh: close the channel, become the playbook
 *
 * The channel is the one Node's `child_process` makes (descriptor 4, a Unix socket over which sockets can be passed); the job never
 * has it. If listening fails the playbook runs anyway. Costs one start of Node per playbook, nothing while it runs.
 */

/** OTLP's own port for HTTP: free, since the job has the loopback for itself. */
export const PORT_INSIDE = 4318;

/** Descriptor of the channel: 0 to 2 are the job's, 3 is bubblewrap's. */
const CHANNEL = 4;

/** Ends when the spawner closes the channel, which it does as soon as the service has the socket. */
const LISTEN = `const server = require('node:net').createServer();
process.once('disconnect', () => process.exit());
server.listen(${PORT_INSIDE}, '127.0.0.1', () => process.send('listening', server));`;

/** Arguments: node, its program, then the command. The environment is emptied: it is meant for the job only. */
const SCRIPT = `env -i NODE_CHANNEL_FD=${CHANNEL} NODE_CHANNEL_SERIALIZATION_MODE=json "$1" -e "$2" </dev/null >/dev/null 2>&1
exec ${CHANNEL}>&-
shift 2
exec "$@"`;

/** @param node path of Node in the sandbox. */
export function listeningArgv(node: string, argv: readonly string[]): readonly string[] {
  return ['/bin/sh', '-c', SCRIPT, 'gatehouse-relay', node, LISTEN, ...argv];
}
