/** What pipelines name of each other. The pipeline keeps working without it, as in Zuul. */
import { didYouMean } from '../../lib/nearest-name.ts';
import { errorAt } from '../model/config-place.ts';
import type { Collected } from './collected.ts';

/** An unknown name in `supercedes` is an error: a misspelt one would have check run beside the gate. */
export function checkPipelines({ pipelineNames, errors, hints }: Collected): void {
  for (const [name, { file, supercedes }] of pipelineNames)
    for (const other of supercedes) {
      if (pipelineNames.has(other.name)) continue;
      const hint = didYouMean(other.name, pipelineNames.keys(), hints);
      const text = `pipeline ${name} supercedes pipeline ${other.name}, which is not defined${hint}`;
      errors.push(errorAt(file, other.offset, 'unknown-pipeline', text));
    }
}
