/** A dependent pipeline with Zuul's defaults that triggers on everything of connection `local` and reports nowhere. */
import type { Pipeline } from '../../src/model/pipeline.ts';

const nowhere: Pipeline['reporters'] = {
  enqueue: [],
  start: [],
  success: [],
  failure: [],
  'merge-conflict': [],
  'config-error': [],
  'no-jobs': [],
  dequeue: [],
  disabled: [],
};

export function gatePipeline(parts: Partial<Pipeline> = {}): Pipeline {
  return {
    name: 'gate',
    manager: 'dependent',
    precedence: 'normal',
    postReview: false,
    triggers: [{ connection: 'local', config: {}, definedAt: 'acme/config@master:zuul.yaml:1' }],
    require: [],
    reject: [],
    reporters: nowhere,
    messages: {},
    window: {
      initial: 20,
      floor: 3,
      increase: { type: 'linear', factor: 1 },
      decrease: { type: 'exponential', factor: 2 },
    },
    supercedes: [],
    dequeueOnNewPatchset: true,
    allowOtherConnections: false,
    ...parts,
  };
}
