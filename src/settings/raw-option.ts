import { inspect } from 'node:util';
import type { OptionValue } from '../lib/option-reader.ts';
import { MASK } from '../lib/secret.ts';
import type { TextPosition } from '../lib/text-position.ts';

/** Options whose value must not be shown, for any driver. Names of key *files* are not secret. */
const SECRET_NAME = /(^|_)(password|passphrase|passwd|secret|token|credentials?|api_key)$/;

/** An option its driver has not read yet. A secret (by its name) shows as `***` in JSON and inspection. */
export class RawOption implements OptionValue {
  readonly at: TextPosition;
  readonly #value: string;
  readonly #option: string;
  readonly #fromEnvironment: boolean;

  constructor(option: string, value: string, at: TextPosition, fromEnvironment: boolean) {
    this.at = at;
    this.#option = option;
    this.#value = value;
    this.#fromEnvironment = fromEnvironment;
  }

  get value(): string {
    return this.#value;
  }

  /** The file holds the secret itself, not only the name of an environment variable. */
  get isSecretInFile(): boolean {
    return SECRET_NAME.test(this.#option) && !this.#fromEnvironment && this.#value !== '';
  }

  toJSON(): string {
    return SECRET_NAME.test(this.#option) ? MASK : this.#value;
  }

  [inspect.custom](): string {
    return JSON.stringify(this.toJSON());
  }
}
