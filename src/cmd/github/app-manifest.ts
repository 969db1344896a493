/**
 * The manifest from which GitHub creates an App, with exactly the permissions the driver uses.
 *
 * Source: GitHub's "Registering a GitHub App from a manifest".
 */
import { APP_EVENTS, APP_PERMISSIONS } from '../../../drivers/github/permissions.ts';

/** What the operator decides about the App. */
export interface AppRequest {
  /** Unique at GitHub, at most 34 characters. */
  readonly name: string;
  /** Where GitHub delivers events: `https://gate.example.org/api/connection/github/payload`. */
  readonly webhookUrl: string;
  /** GitHub sends the browser here afterwards, with `code` and `state`. */
  readonly redirectUrl: string;
}

/** GitHub's limit. */
export const LONGEST_APP_NAME = 34;

/** The value of the form field `manifest`, before it is written as JSON. */
export function appManifest({ name, webhookUrl, redirectUrl }: AppRequest) {
  return {
    name,
    url: new URL('/', webhookUrl).href,
    hook_attributes: { url: webhookUrl, active: true },
    redirect_url: redirectUrl,
    public: false,
    default_permissions: Object.fromEntries(
      APP_PERMISSIONS.map(permission => [permission.name, permission.level]),
    ),
    default_events: APP_EVENTS,
  };
}
