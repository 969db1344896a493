/** Gerrit: what labels decide alone, and what submit requirements decide; with Gerrit's merges, and with the commits that it makes itself. */
import { openGerritHost } from './gerrit-host.ts';
import { describeDriver } from './suite.ts';

describeDriver('gerrit 3.2, which merges', () => openGerritHost({ version: '3.2' }, 'MERGE_IF_NECESSARY'));
describeDriver('gerrit 3.11, which rebases', () => openGerritHost({ version: '3.11' }, 'REBASE_ALWAYS'));
