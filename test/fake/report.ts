/** A report of success from pipeline `gate` of tenant `acme`, for tests of drivers. */
import { parseUuid } from '../../src/lib/ids.ts';
import type { Report } from '../../src/model/report.ts';

export function sampleReport(parts: Partial<Report> = {}): Report {
  const item = 'http://gate.example.org/t/acme/item/4f0c';
  return {
    action: 'success',
    result: 'SUCCESS',
    item: parseUuid('4f0c0000000000000000000000000001'),
    place: { tenant: 'acme', pipeline: 'gate', queue: null },
    changes: [],
    headline: 'Build succeeded (gate).',
    reason: null,
    jobs: [],
    fileComments: [],
    retests: [],
    urls: { item, trace: null },
    text: `Build succeeded (gate).\n${item}\n\n- unit : SUCCESS in 4s`,
    ...parts,
  };
}
