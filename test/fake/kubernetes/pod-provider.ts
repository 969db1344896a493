/** The file of nodes of a service whose jobs run on pods of a cluster. */

interface ProviderOptions {
  /** Paths. */
  readonly kubeconfig: string;
  readonly context: string;
  readonly maxPods?: number;
  /** Of the label `debian`, with sh and python3; that of the label `invalid` is none. */
  readonly image?: string;
}

/** Text of a file of nodes with the provider `cluster`. */
export function podProvider({
  kubeconfig,
  context,
  maxPods = 4,
  image = 'registry/debian:13',
}: ProviderOptions): string {
  return `
providers:
  - name: cluster
    driver: kubernetes
    kubeconfig: ${kubeconfig}
    context: ${context}
    max-pods: ${maxPods}
    start-timeout: 60
    labels:
      - {name: debian, image: "${image}", cpu: 500m, memory: 256}
      - {name: invalid, image: "registry/invalid:1"}
`;
}
