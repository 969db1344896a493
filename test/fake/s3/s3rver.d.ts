declare module '@20minutes/s3rver' {
  /** The part that is used here. */
  // biome-ignore lint/style/noDefaultExport: it has one.
  export default class S3rver {
    constructor(options: {
      readonly address: string;
      readonly port: number;
      readonly silent: boolean;
      readonly directory: string;
      readonly configureBuckets: readonly { readonly name: string; readonly configs: readonly string[] }[];
    });
    /** Of Koa. */
    readonly middleware: ((
      ctx: {
        readonly path: string;
        readonly state: { vhost?: boolean };
        mountPath?: string;
        status: number;
        body: unknown;
      },
      next: () => Promise<void>,
    ) => Promise<void>)[];
    run(): Promise<{ readonly port: number }>;
    close(): Promise<void>;
  }
}
