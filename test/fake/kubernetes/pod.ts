/** A pod as the API has it, as far as tests need it. */
export interface Pod {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels?: { readonly [name: string]: string };
    readonly annotations?: { readonly [name: string]: string };
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly {
      readonly name: string;
      readonly image: string;
      readonly resources?: { readonly requests?: { readonly [name: string]: string } };
    }[];
  };
  readonly status: {
    readonly phase: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly object[];
    readonly containerStatuses?: readonly object[];
  };
}

/** As it is when it has just been created. */
export function podOf(
  metadata: Pick<Pod['metadata'], 'name' | 'labels' | 'annotations'>,
  spec: Pod['spec'],
  own: Pick<Pod['metadata'], 'uid' | 'namespace'>,
): Pod {
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { ...metadata, ...own, resourceVersion: '0', creationTimestamp: new Date(0).toISOString() },
    spec,
    status: { phase: 'Pending' },
  };
}
