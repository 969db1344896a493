/** The messages of a pipeline that have replacement fields, as in Zuul: all others are taken as they are written. */
import { ITEM_FIELDS } from './message-fields.ts';
import type { ReportAction } from './pipeline.ts';

/** Those messages. */
export const HAS_FIELDS: ReadonlySet<ReportAction | 'footer'> = new Set(['start', 'enqueue', 'no-jobs']);

/** One value of each field. */
export const MESSAGE_FIELDS = { ...ITEM_FIELDS, item_url: '', status_url: '' };
