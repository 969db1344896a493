/** `gatehouse nodes`, and what takes a host out of service and back: `gatehouse node hold`, `gatehouse node release`. */
import type { Command } from 'commander';
import { nodeWaitText } from '../../api/node-waits.ts';
import type { NodesDocument, NodesetRequestsDocument } from '../../api/nodes.ts';
import { padded, printable } from '../../lib/text-width.ts';
import { type Io, print, printJson } from '../terminal/io.ts';
import { addAutoholdCommands } from './autohold.ts';
import { sendRequest, whoMayText } from './operator-request.ts';
import {
  type AskOptions,
  addAskOptions,
  addServiceOptions,
  type ServiceSession,
  type Session,
  withService,
  withTenantService,
} from './session.ts';

const EXAMPLES = `
Examples:
  gatehouse nodes
  gatehouse node hold web1 --reason "a new disk"
  gatehouse node release web1`;

/** @param done gets the exit status: 1 when the service refuses or is not reached. */
export function addNodeCommands(program: Command, io: Io, done: (status: number) => void): void {
  addAskOptions(program.command('nodes'))
    .summary('show the hosts that jobs run on over ssh')
    .description(
      'Shows the hosts of nodes.yaml: their state, how many builds are on them, their labels, and why one is out of service; and the builds of the tenant that wait for hosts.',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: AskOptions) => done(await withTenantService(io, options, showNodes)));
  addAutoholdCommands(program, io, done);
  const node = program.command('node').summary('hold or release a host');
  addServiceOptions(node.command('hold'))
    .summary('take a host out of service')
    .description(
      'Takes a host out of service: no build is given a place on it until it is released. Builds that are there go on.',
    )
    .argument('<name>', 'as "gatehouse nodes" shows it')
    .requiredOption('--reason <text>', 'shown with the host')
    .addHelpText('after', whoMayText('a token for every tenant'))
    .action(async (name: string, options: AskOptions & { readonly reason: string }) =>
      done(
        await withService(
          io,
          options,
          session =>
            act(session, name, 'hold', { reason: options.reason }, `${name} gets no build from now on`),
          'act',
        ),
      ),
    );
  addServiceOptions(node.command('release'))
    .summary('take a held host back into service')
    .description(
      'Takes a held host back into service. One that is out of service for another reason stays so until an executor finds it well.',
    )
    .argument('<name>', 'as "gatehouse nodes" shows it')
    .addHelpText('after', whoMayText('a token for every tenant'))
    .action(async (name: string, options: AskOptions) =>
      done(
        await withService(
          io,
          options,
          session => act(session, name, 'release', {}, `${name} is released`),
          'act',
        ),
      ),
    );
}

function act(
  session: ServiceSession,
  name: string,
  action: string,
  body: object,
  done: string,
): Promise<number> {
  return sendRequest(session, `/api/nodes/${encodeURIComponent(name)}/${action}`, body, done);
}

async function showNodes({ api, io, json, tenant }: Session): Promise<number> {
  const base = `/api/tenant/${encodeURIComponent(tenant)}`;
  const nodes = await api.get<NodesDocument>(`${base}/nodes`);
  if (json) {
    printJson(io, nodes);
    return 0;
  }
  const requests = await api.get<NodesetRequestsDocument>(`${base}/nodeset-requests`);
  print(io, [...nodesLines(nodes), ...waitingLines(requests)].join('\n'));
  return 0;
}

function waitingLines(requests: NodesetRequestsDocument): readonly string[] {
  return requests.flatMap(({ uuid, gatehouse: { position, waiting, hosts } }) => {
    if (position === null) return [];
    const labels = hosts.map(({ in_use: inUse, unreached = [], ...counts }) => ({
      ...counts,
      inUse,
      unreached,
    }));
    return [printable(`build ${uuid} waits: ${nodeWaitText({ build: uuid, position, waiting, labels })}`)];
  });
}

function nodesLines(nodes: NodesDocument): readonly string[] {
  if (nodes.length === 0) return ['no hosts: [nodes] config names none'];
  const longest = Math.max(...nodes.map(({ id }) => id.length));
  return nodes.flatMap(({ id, type, state, comment, gatehouse }) => [
    `${padded(printable(id), longest)}  ${padded(state, 6)}  ${gatehouse.in_use}/${gatehouse.max_parallel_jobs}  ${printable(type.join(' '))}`,
    ...(comment === null ? [] : [`    ! ${printable(comment)}`]),
  ]);
}
