/** Gerrit: what labels decide alone, and what submit requirements decide; with Gerrit's merges, and with the commits that it makes itself; over HTTP and over SSH. */
import { openGerritHost } from './gerrit-host.ts';
import { describeDriver } from './suite.ts';

describeDriver('gerrit 3.2, which merges', () => openGerritHost({ version: '3.2' }, 'MERGE_IF_NECESSARY'));
describeDriver('gerrit 3.11, which rebases', () => openGerritHost({ version: '3.11' }, 'REBASE_ALWAYS'));
/** Those that ask or write something: with a key alone Gerrit is asked by commands, and git goes over SSH. */
const OVER_SSH = [
  'of a proposal, with all a pipeline needs to know',
  'of a withdrawn approval without an event',
  'P1: deliveries that are swapped end in the same state, each event once',
  'P3: a host that is away is no verdict: its events and landings are for later',
  'P5: a process that may not act any more changes nothing',
  'a change can be asked for at any time',
  'a proposal built on another one needs it where the host says so, and only the nearest',
  'P4: what was tested, and names what the branch holds now; the proposal is gone',
  'P5: once, however often it is asked',
  'not against the rules of the host, whose words it passes on',
  'a result where people find it, once',
  'and says where a mistake is',
  "a proposal called it's;rm -rf",
  'a proposal called "quoted"',
];
describeDriver(
  'gerrit 3.2 over SSH alone',
  () => openGerritHost({ version: '3.2' }, 'MERGE_IF_NECESSARY', 'ssh'),
  OVER_SSH,
);
