/** Topics for `master` are written without their branch. */
export function nameOf(topic: string, branch: string): string {
  return `${branch}/${topic}`;
}

export function shownTopic(name: string): string {
  return name.replace(/^master\//, '');
}
