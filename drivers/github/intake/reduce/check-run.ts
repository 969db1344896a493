/**
 * `check_run` and `check_suite`. Of other Apps: the commit's checks are read again. Of ours: people request runs again, or press a
 * button; the end of a run is read like that of any other, because a pipeline may require it, and its beginning is not.
 */

import type { Payload } from '../payload.ts';
import { payloadCommit, payloadNumber, payloadText, payloadTime } from '../payload-fields.ts';
import { type IntakeFacts, malformed, type Reduced, type Reducer, uninteresting } from '../reduced.ts';

/** Characters. */
const LONGEST_NAME = 255;

/** The event `check_run`. */
export const reduceCheckRun: Reducer = (payload, action, facts) => {
  const commit = payloadCommit(payload, 'check_run.head_sha');
  const name = payloadText(payload, 'check_run.name', LONGEST_NAME);
  if (commit === undefined) return malformed('check_run.head_sha');
  const app = ownApp(payload, 'check_run', facts);
  const id = payloadNumber(payload, 'check_run.id');
  switch (action) {
    case 'created':
      if (app !== undefined) return { kind: 'ignored', reason: 'our own check run' };
      return look(commit, name);
    case 'completed':
      return look(commit, name, id, payloadTime(payload, 'check_run.completed_at'));
    case 'rerequested':
      return app === undefined ? look(commit, name) : rerun(payload, commit, name, app);
    case 'requested_action':
      return app === undefined ? uninteresting(action) : button(payload, commit, name);
    default:
      return uninteresting(action);
  }
};

/** The event `check_suite`. */
export const reduceCheckSuite: Reducer = (payload, action, facts) => {
  const commit = payloadCommit(payload, 'check_suite.head_sha');
  if (commit === undefined) return malformed('check_suite.head_sha');
  // `completed` follows the events of the suite's runs; what it adds is that none was lost.
  if (action === 'completed') return look(commit);
  const app = ownApp(payload, 'check_suite', facts);
  if (action !== 'rerequested' || app === undefined) return uninteresting(action);
  return { kind: 'about', about: { kind: 'rerun', commit, app } };
};

/** Our App's id; undefined: it is of another. */
function ownApp(payload: Payload, member: string, { appId }: IntakeFacts): number | undefined {
  return appId !== null && payloadNumber(payload, `${member}.app.id`) === appId ? appId : undefined;
}

function look(commit: string, context?: string, completedRun?: number, at?: number): Reduced {
  return {
    kind: 'about',
    at,
    about: {
      kind: 'commit',
      commit,
      ...(context === undefined ? {} : { context }),
      ...(completedRun === undefined ? {} : { completedRun }),
    },
  };
}

function rerun(payload: Payload, commit: string, name: string | undefined, app: number): Reduced {
  const id = payloadNumber(payload, 'check_run.id');
  if (name === undefined || id === undefined) return malformed('check_run.name or check_run.id');
  const externalId = payloadText(payload, 'check_run.external_id', 500);
  const started = payloadTime(payload, 'check_run.started_at');
  const once = `rerun-${id}-${started ?? 0}`;
  return {
    kind: 'about',
    about: {
      kind: 'rerun',
      commit,
      app,
      run: name,
      once,
      ...(externalId === undefined ? {} : { externalId }),
    },
  };
}

function button(payload: Payload, commit: string, name: string | undefined): Reduced {
  const identifier = payloadText(payload, 'requested_action.identifier', 20);
  if (name === undefined || identifier === undefined)
    return malformed('check_run.name or requested_action.identifier');
  const externalId = payloadText(payload, 'check_run.external_id', 500) ?? null;
  const branch = payloadText(payload, 'check_run.check_suite.head_branch', LONGEST_NAME);
  return {
    kind: 'about',
    about: {
      ...{ kind: 'button', commit, identifier, run: name, externalId },
      ...(branch === undefined ? {} : { branch }),
    },
  };
}
