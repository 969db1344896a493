/** The password is not the one that the keys in the store were sealed with. One line for an operator. */
export class KeystoreLocked extends Error {
  override readonly name = 'KeystoreLocked';
}
