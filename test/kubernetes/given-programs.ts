/** The programs for `npm run test:kubernetes`, or the cluster, named by the environment. */
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

const HOW = `npm run test:kubernetes needs a Kubernetes API server, either its own or a cluster's:
  KUBERNETES_BIN=<folder>      starts one for each file of tests, on free ports of 127.0.0.1, and ends it. In the folder are the programs
                               etcd, kube-apiserver, exec-server of test/kubernetes, and if you have them kube-scheduler and
                               kube-controller-manager: what needs these is left out without them
  KUBERNETES_ADMIN=<path of a kubeconfig that may do everything>, KUBERNETES_IMAGE=<an image with sh and python3>
                               uses a cluster; what needs our own is left out. Each file makes a namespace, and deletes it

Where they come from:
  etcd                         apt-get install etcd-server, or https://github.com/etcd-io/etcd/releases
  kube-*                       https://dl.k8s.io/v1.34.3/kubernetes-server-linux-amd64.tar.gz, in kubernetes/server/bin; or with Go:
    V=1.34.3; cp -r "$(go mod download -json k8s.io/kubernetes@v$V | jq -r .Dir)" kubernetes && chmod -R u+w kubernetes && cd kubernetes
    rm -rf go.work* vendor && sed -i -E "s#=> ./staging/src/(k8s.io/[a-z0-9-]+)#=> \\1 v0\${V#1}#" go.mod && go mod tidy -e
    VERSION=k8s.io/component-base/version; go build -mod=mod -o <folder>/ \\
      -ldflags "-X $VERSION.gitVersion=v$V -X $VERSION.gitMajor=1 -X $VERSION.gitMinor=34" \\
      ./cmd/kube-apiserver ./cmd/kube-controller-manager ./cmd/kube-scheduler
  exec-server                  cd test/kubernetes/exec-server && CGO_ENABLED=0 go build -o <folder>/
There is no kubelet: test/fake/kubernetes/kubelet.ts stands in, and exec-server for the part that runs commands.`;

const NEEDED = ['etcd', 'kube-apiserver', 'exec-server'] as const;
const WELCOME = ['kube-scheduler', 'kube-controller-manager'] as const;

type Welcome = (typeof WELCOME)[number];

/** Paths. */
export type Programs = { readonly [name in (typeof NEEDED)[number]]: string } & {
  readonly [name in Welcome]?: string;
};

export type Given =
  | { readonly kind: 'programs'; readonly programs: Programs }
  | { readonly kind: 'cluster'; readonly admin: string; readonly image: string };

/** Called by Vitest before anything else of a run. @throws Error that says how to get them, when there are none. */
export function setup(): void {
  given();
}

export function given(): Given {
  const { KUBERNETES_BIN: folder, KUBERNETES_ADMIN: admin, KUBERNETES_IMAGE: image } = process.env;
  if (admin !== undefined && image !== undefined) return { kind: 'cluster', admin, image };
  if (folder === undefined) throw new Error(HOW);
  const at = (name: string) => path.join(folder, name);
  const missing = NEEDED.filter(name => !isProgram(at(name)));
  if (missing.length > 0) throw new Error(`${folder} has no ${missing.join(', ')}\n\n${HOW}`);
  const names = [...NEEDED, ...WELCOME.filter(name => isProgram(at(name)))];
  return { kind: 'programs', programs: Object.fromEntries(names.map(name => [name, at(name)])) as Programs };
}

/** Whether the cluster is one of our own. */
export function isOwn(): boolean {
  return given().kind === 'programs';
}

/** A cluster that was given has all. */
export function has(program: Welcome): boolean {
  const found = given();
  return found.kind === 'cluster' || found.programs[program] !== undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
