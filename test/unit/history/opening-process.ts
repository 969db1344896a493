/** Opens the history at the place given, writes one row, and ends. */
import { openHistory } from '../../../src/history/history.ts';
import { Secret } from '../../../src/lib/secret.ts';
import { sampleDecisions } from '../web/sample-gate.ts';

const [, , kind, place = ''] = process.argv;
const history = await openHistory(
  kind === 'sqlite' ? { kind, path: place } : { kind: 'postgresql', uri: new Secret(place) },
);
await history.record([{ kind: 'decisions', decisions: sampleDecisions() }]);
await history.close();
