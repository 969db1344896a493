/** The server itself, and who is asking. */
import { RestRefused } from '../rest-refused.ts';
import { accountShape } from '../shapes.ts';
import { accountOf, type RestAnswer, type RestCall, signedIn } from './call.ts';

export function getVersion({ world }: RestCall): RestAnswer {
  return { status: 200, json: world.version === '3.2' ? '3.2.0-SNAPSHOT-60de668a26' : '3.11.1' };
}

/** `submit_whole_topic` is there only where it is on. */
export function getServerInfo({ world }: RestCall): RestAnswer {
  const json = {
    accounts: { visibility: 'ALL' },
    auth: {
      auth_type: 'DEVELOPMENT_BECOME_ANY_ACCOUNT',
      editable_account_fields: ['USER_NAME', 'FULL_NAME'],
      git_basic_auth_policy: 'HTTP',
    },
    change: {
      allow_blame: true,
      large_change: 500,
      reply_label: 'Reply…',
      reply_tooltip: 'Reply and score (Shortcut: a)',
      ...(world.submitWholeTopic ? { submit_whole_topic: true } : {}),
      update_delay: 300,
    },
    download: { schemes: {}, archives: ['tgz', 'tar', 'tbz2', 'txz'] },
    gerrit: { all_projects: 'All-Projects', all_users: 'All-Users', doc_search: false },
    index: { change: { index_mergeable: true } },
    note_db_enabled: true,
    plugin: { js_resource_paths: [], html_resource_paths: [] },
    sshd: {},
    suggest: { from: 0 },
    user: { anonymous_coward_name: 'Name of user not set' },
    receive: { enable_signed_push: false },
  };
  return { status: 200, json };
}

/** `self` is not for anonymous requests. */
export function getAccount(call: RestCall): RestAnswer {
  const [name = ''] = call.parts;
  if (name === 'self' && call.caller === null) throw new RestRefused(403, 'Authentication required');
  return { status: 200, json: accountShape(accountOf(call, name), true) };
}

export function getAccountDetail(call: RestCall): RestAnswer {
  const { json } = getAccount(call);
  return {
    status: 200,
    json: { registered_on: '2026-01-01 00:00:00.000000000', ...Object(json), secondary_emails: [] },
  };
}

export function getCapabilities(call: RestCall): RestAnswer {
  const { capabilities } = signedIn(call);
  const own = Object.fromEntries([...capabilities].map(each => [each, true] as const));
  return { status: 200, json: { emailReviewers: true, ...own, queryLimit: { min: 0, max: 500 } } };
}
