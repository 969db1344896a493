/** Gerrit's refusal of a request: its text is the answer, as `text/plain`. Thrown by what does things, answered by the server. */
export class RestRefused extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, text: string, headers: Readonly<Record<string, string>> = {}) {
    super(text);
    this.status = status;
    this.headers = headers;
  }
}
