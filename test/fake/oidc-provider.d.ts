/** The part of the package that tests use; it brings no types. */
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  export class Provider {
    constructor(issuer: string, configuration: { readonly [name: string]: unknown });
    callback(): RequestListener;
  }
}
