/** `[metrics]`: a port of its own for `/metrics`, `/health/live` and `/health/ready`, for processes without a web. */
import type { OptionReader } from '../lib/option-reader.ts';

/** Where the process's own metrics server listens (`src/cmd/service/metrics-server.ts`). */
export interface MetricsSettings {
  /** Default `127.0.0.1`: only this machine. */
  readonly listenAddress: string;
  /** 0 takes any free port (it is logged). */
  readonly port: number;
}

/** Undefined without a port: then only webs serve these paths. */
export function readMetrics(read: OptionReader): MetricsSettings | undefined {
  const listenAddress = read.string('listen_address', '127.0.0.1');
  if (!/^[\w.:-]+$/.test(listenAddress))
    read.refuse('listen_address', `"${listenAddress}" is not an address; the port has an option of its own`);
  if (read.has('port')) return { listenAddress, port: read.integer('port', { min: 0, max: 65_535 }, 0) };
  if (read.has('listen_address')) read.refuse('listen_address', 'does nothing without port');
  return undefined;
}
