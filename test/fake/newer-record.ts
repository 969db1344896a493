/** The bytes a later release would write: same kind, next version, a form this one has never seen. */
export function newerRecord(codec: { readonly kind: string; readonly version: number }): Uint8Array {
  const { kind, version } = codec;
  return new TextEncoder().encode(`{"k":"${kind}","v":${version + 1},"d":{"of":"tomorrow"}}`);
}
