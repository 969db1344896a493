/** Signing in and out, as the header shows it. */
import { base, errorTextOf } from './address.ts';
import { type Child, element } from './dom.ts';
import { forgetSession, sessionEndsIn, sessionToken } from './session.ts';
import { beginSignIn, endSignIn, isCallback, openIdRealms, type Realm } from './sign-in.ts';

/** The longest that a timer of a browser runs, in milliseconds. */
const LONGEST_TIMER = 2_000_000_000;

/** Of one page. */
export class SignInControls {
  #realms: readonly Realm[] = [];
  #problem: string | undefined;
  readonly #onEnd: () => void;

  /** @param onEnd called when the session has expired. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Before the page shows anything: it may be the one that the issuer came back to. */
  async open(): Promise<void> {
    if (isCallback()) {
      const done = await endSignIn();
      window.history.replaceState(null, '', done.address);
      if (done.kind === 'failed') this.#problem = done.text;
    }
    this.#realms = await openIdRealms();
    const ms = sessionToken() === undefined ? undefined : sessionEndsIn();
    if (ms !== undefined) setTimeout(() => this.#expire(), Math.min(ms + 1, LONGEST_TIMER));
  }

  /** For people; undefined: nothing went wrong. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Whether the page can sign in. */
  get isOffered(): boolean {
    return this.#realms.length > 0;
  }

  controls(redraw: () => void): Child {
    if (sessionToken() !== undefined) return button('sign-out', 'Sign out', () => this.#signOut());
    return this.#realms.map((realm, index) => {
      const name = this.#realms.length === 1 ? 'Sign in' : `Sign in at ${realm.name}`;
      return button(`sign-in-${index}`, name, () => void this.#signIn(realm, redraw));
    });
  }

  async #signIn(realm: Realm, redraw: () => void): Promise<void> {
    try {
      await beginSignIn(realm, location.pathname + location.search);
    } catch (error) {
      this.#problem = errorTextOf(error);
      redraw();
    }
  }

  /** A new document: nothing of what was shown stays in memory. */
  #signOut(): void {
    forgetSession();
    location.assign(`${base}/`);
  }

  #expire(): void {
    if (sessionToken() !== undefined) return;
    this.#problem = 'Your sign-in has expired.';
    this.#onEnd();
  }
}

function button(id: string, text: string, act: () => void): HTMLElement {
  const made = element('button', { type: 'button', id, class: 'account' }, text);
  made.addEventListener('click', act);
  return made;
}
