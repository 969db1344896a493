/** Refusals of RFC 6750, which name the required token. */
import type { AuthRealm } from '../../settings/auth-keys.ts';
import type { AuthSettings } from '../../settings/settings.ts';
import type { HttpRefusal } from '../answer.ts';

/** `none`: no token was sent. */
export type ChallengeCode = 'none' | 'invalid_request' | 'invalid_token' | 'insufficient_scope';

/** @param reason for people; without any part of a token. */
export function challenge(realms: readonly AuthRealm[], code: ChallengeCode, reason: string): HttpRefusal {
  const realm = defaultRealm(realms.map(each => each.settings));
  const parts = [
    ...(realm === undefined ? [] : [`realm="${realm}"`]),
    ...(code === 'none' ? [] : [`error="${code}"`, `error_description="${quotable(reason)}"`]),
  ];
  return {
    kind: 'refused',
    status: code === 'insufficient_scope' ? 403 : 401,
    error: reason,
    place: 'header authorization',
    headers: { 'WWW-Authenticate': ['Bearer', parts.join(', ')].join(' ').trim(), Connection: 'close' },
  };
}

/** As RFC 6750 limits it. */
function quotable(text: string): string {
  return text.replaceAll(/[^ !#-[\]-~]/g, "'");
}

/** Undefined: there are several and none is the default. */
export function defaultRealm(sections: readonly AuthSettings[]): string | undefined {
  const [only, ...others] = sections;
  return (
    sections.find(({ isDefault }) => isDefault)?.realm ?? (others.length === 0 ? only?.realm : undefined)
  );
}
