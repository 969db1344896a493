/** What jobs leave in their log directory, as executors keep it and webs serve it. */

/** One file. */
export interface KeptFile {
  /** Below `ZUUL_LOG_DIR`, with `/`; no part of it is empty, `.` or `..`. */
  readonly path: string;
  /** Uncompressed. */
  readonly bytes: number;
  /** Of the contents. */
  readonly sha256: string;
  /** Seconds since 1970. */
  readonly modified: number;
}

/** All of a build; there are none before it has ended. */
export interface KeptFiles {
  /** In the order of their paths. */
  readonly files: readonly KeptFile[];
}
