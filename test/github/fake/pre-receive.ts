/**
 * A line of `protected-refs` has, between tabs: ref, who may push, which commits, `merges` or `linear`, who bypasses, the text.
 * `*` stands for any. `FAKE_WORKFLOWS=no` is set for Apps that may not change workflow files.
 */
export const PRE_RECEIVE = `#!/bin/sh
tab="$(printf '\\t')"
while read -r old new ref; do
  if [ "$FAKE_WORKFLOWS" = no ] && [ "\${new#0000000}" = "$new" ]; then
    from=$old; [ "\${old#0000000}" = "$old" ] || from=4b825dc642cb6eb9a060e54bf8d69288fbee4904
    file=$(git diff --name-only "$from" "$new" -- .github/workflows | head -n 1)
    if [ -n "$file" ]; then
      echo "refusing to allow a GitHub App to create or update workflow \\\`$file\\\` without \\\`workflows\\\` permission" >&2
      exit 1
    fi
  fi
  while IFS="$tab" read -r name actors commits merges bypass text; do
    [ "$name" = "$ref" ] || continue
    case " $bypass " in *" $REMOTE_USER "*) continue ;; esac
    refused=
    [ "$actors" = '*' ] || case " $actors " in *" $REMOTE_USER "*) ;; *) refused=yes ;; esac
    [ "$commits" = '*' ] || case " $commits " in *" $new "*) ;; *) refused=yes ;; esac
    [ "$merges" = merges ] || [ -z "$(git rev-list --merges "$old..$new")" ] || refused=yes
    if [ -n "$refused" ]; then printf '%b\\n' "$text" >&2; exit 1; fi
  done < protected-refs
done
`;
