/** This process lost the right to act between a decision and its write: nothing was sent. */
export class NotHolder extends Error {
  override readonly name = 'NotHolder';
  constructor(operation: string) {
    super(`${operation} was not sent: this process may not act at the code host any more`);
  }
}
