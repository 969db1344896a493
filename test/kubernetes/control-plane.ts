/**
 * etcd and kube-apiserver for a test, and kube-controller-manager and kube-scheduler where they are given, as an installation has them: certificates and tokens, RBAC, node
 * restriction, quotas. Everything is below a temporary directory and on 127.0.0.1.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeAuthority } from '../fake/certificates.ts';
import { MACHINE } from '../fake/kubernetes/kubelet.ts';
import { freePort } from '../fake/zookeeper/free-port.ts';
import type { Programs } from './given-programs.ts';
import { type ServerProcess, serverProcess } from './server-process.ts';

/** Those who have a token of the static file. */
const USERS = {
  admin: { name: 'admin', group: 'system:masters' },
  scheduler: { name: 'system:kube-scheduler', group: '' },
  controllers: { name: 'system:kube-controller-manager', group: '' },
  machine: { name: `system:node:${MACHINE}`, group: 'system:nodes' },
} as const;

export interface ControlPlane extends AsyncDisposable {
  readonly url: string;
  readonly api: ServerProcess;
  readonly etcd: ServerProcess;
  /** Below which certificates are: see {@link FILES}. */
  readonly folder: string;
  /** Text of a kubeconfig. */
  configOf(user: keyof typeof USERS | { readonly token: string }, namespace?: string): string;
}

/** Beside them `<name>.key`. */
export const FILES = { authority: 'ca.crt', machine: 'machine.crt' } as const;

/** What the tests need of the many. */
const CONTROLLERS = [
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'resourcequota-controller',
  'namespace-controller',
];

export async function startControlPlane(programs: Programs): Promise<ControlPlane> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-kubernetes-'));
  opening.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const file = (name: string) => path.join(folder, name);
  const authority = makeAuthority('kubernetes');
  await writeFile(file(FILES.authority), authority.cert);
  for (const name of ['api', 'machine']) {
    const { cert, key } = authority.issue(name);
    await writeFile(file(`${name}.crt`), cert);
    await writeFile(file(`${name}.key`), key, { mode: 0o600 });
  }
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(file('accounts.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const lines = Object.entries(USERS).map(
    ([id, { name, group }]) => `${tokenOf(id)},${name},${id}${group === '' ? '' : `,${group}`}`,
  );
  await writeFile(file('tokens.csv'), `${lines.join('\n')}\n`, { mode: 0o600 });

  const [client, peer, port] = [await freePort(), await freePort(), await freePort()];
  const url = `https://127.0.0.1:${port}`;
  const configOf: ControlPlane['configOf'] = (user, namespace = 'default') => {
    const token = typeof user === 'string' ? tokenOf(user) : user.token;
    return JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'tests' },
      clusters: [
        {
          name: 'tests',
          cluster: { server: url, 'certificate-authority-data': authority.cert.toString('base64') },
        },
      ],
      users: [{ name: 'one', user: { token } }],
      contexts: [{ name: 'tests', context: { cluster: 'tests', user: 'one', namespace } }],
    });
  };
  for (const user of ['scheduler', 'controllers'] as const)
    await writeFile(file(user), configOf(user), { mode: 0o600 });

  const etcd = opening.use(
    serverProcess(programs.etcd, etcdOptions(file('etcd'), client, peer), () =>
      fetch(`http://127.0.0.1:${client}/health`).then(({ ok }) => ok),
    ),
  );
  const api = opening.use(
    serverProcess(programs['kube-apiserver'], apiOptions(file, port, client), () =>
      answersWell(`${url}/readyz`, authority.cert),
    ),
  );
  const worker = (program: string | undefined, own: readonly string[], at: number) =>
    program === undefined
      ? undefined
      : opening.use(
          serverProcess(
            program,
            ['--leader-elect=false', '--bind-address=127.0.0.1', `--secure-port=${at}`, ...own],
            () => answersWell(`https://127.0.0.1:${at}/healthz`),
          ),
        );
  const scheduler = worker(
    programs['kube-scheduler'],
    [`--kubeconfig=${file('scheduler')}`],
    await freePort(),
  );
  const controllers = worker(
    programs['kube-controller-manager'],
    [
      `--kubeconfig=${file('controllers')}`,
      '--use-service-account-credentials=true',
      `--service-account-private-key-file=${file('accounts.key')}`,
      `--root-ca-file=${file(FILES.authority)}`,
      `--controllers=${CONTROLLERS.join(',')}`,
    ],
    await freePort(),
  );
  await etcd.start();
  await api.start();
  await Promise.all([scheduler?.start(), controllers?.start()]);
  const lifetime = opening.move();
  return {
    url,
    api,
    etcd,
    folder,
    configOf,
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

function tokenOf(user: string): string {
  return `token-of-${user}`;
}

function etcdOptions(folder: string, client: number, peer: number): readonly string[] {
  const [own, others] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  return [
    `--data-dir=${folder}`,
    ...[`--listen-client-urls=${own}`, `--advertise-client-urls=${own}`],
    ...[`--listen-peer-urls=${others}`, `--initial-advertise-peer-urls=${others}`],
    `--initial-cluster=default=${others}`,
  ];
}

function apiOptions(file: (name: string) => string, port: number, etcd: number): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    ...['--bind-address=127.0.0.1', `--secure-port=${port}`, '--endpoint-reconciler-type=none'],
    ...[`--tls-cert-file=${file('api.crt')}`, `--tls-private-key-file=${file('api.key')}`],
    ...[`--client-ca-file=${file(FILES.authority)}`, `--token-auth-file=${file('tokens.csv')}`],
    ...['--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction'],
    ...['--service-cluster-ip-range=10.0.0.0/24', '--service-account-issuer=https://kubernetes.default.svc'],
    ...[`--service-account-key-file=${file('accounts.key')}`],
    ...[`--service-account-signing-key-file=${file('accounts.key')}`],
    ...[`--kubelet-client-certificate=${file('api.crt')}`, `--kubelet-client-key=${file('api.key')}`],
    ...[`--kubelet-certificate-authority=${file(FILES.authority)}`],
    '--allow-privileged=true',
    '--kubelet-preferred-address-types=InternalIP',
  ];
}

/** Without an authority any certificate will do: it is a server of our own. */
function answersWell(url: string, ca?: Buffer): Promise<boolean> {
  const agent = new Agent({ keepAlive: false });
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  request(url, { agent, ...(ca === undefined ? { rejectUnauthorized: false } : { ca }) })
    .on('response', response => {
      response.resume();
      resolve(response.statusCode === 200);
    })
    .on('error', reject)
    .end();
  return promise;
}
