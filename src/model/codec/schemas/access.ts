/** Requests of executors for access to repositories. */
import type { AccessRequest } from '../../access-request.ts';
import { project, type Schema, tagged, text, uuid } from '../schema.ts';
import { hostTroubleReasonSchema } from './causes.ts';

/** {@link AccessRequest}, the record `access-request`. */
export const accessRequestSchema: Schema<AccessRequest> = tagged<AccessRequest, 'state'>('state', {
  asked: { build: uuid, project, publicKey: text },
  lent: { sealed: text },
  refused: { reason: hostTroubleReasonSchema, text },
});
