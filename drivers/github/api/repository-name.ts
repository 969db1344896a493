/** The parts of `owner/name`, as routes of GitHub take them. */
export function ownerAndName(repository: string): { readonly owner: string; readonly repo: string } {
  const slash = repository.indexOf('/');
  return { owner: repository.slice(0, slash), repo: repository.slice(slash + 1) };
}
