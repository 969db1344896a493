/** The keys of a realm cannot be had now. The message says why, for people; it holds nothing of a token. */
export class IssuerTrouble extends Error {
  override readonly name = 'IssuerTrouble';
}
