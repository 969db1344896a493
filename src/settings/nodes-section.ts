/** `[nodes]`: the machines that jobs run on over ssh. */
import type { OptionReader } from '../lib/option-reader.ts';

/** Of processes with a scheduler; executors read the hosts from the store. */
export interface NodesSettings {
  /** `nodes.yaml`. Undefined: there are no hosts, and jobs run on executors alone. */
  readonly config: string | undefined;
}

export function readNodes(read: OptionReader): NodesSettings {
  return { config: read.path('config') };
}
