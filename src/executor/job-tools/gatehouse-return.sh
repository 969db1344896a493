#!/bin/sh
# gatehouse return [--secret] [JSON | -]
#
# Returns data of the job, a JSON object, for the jobs that depend on it; `zuul.artifacts` and `zuul.log_url` of it are shown with the
# build. Without an argument, or with `-`, it is read from the standard input: other processes see arguments. Needs a POSIX shell and
# coreutils. One line of the file is one call; its format is in src/executor/returned/parse-returned.ts. Outside a job of Gatehouse
# it does nothing.

usage() {
  echo "usage: gatehouse return [--secret] [JSON | -]   (a JSON object, by default from the standard input)" >&2
  exit 64
}

member=data
if [ "${1-}" = --secret ]; then
  member=secret_data
  shift
fi
case $#,${1--} in
  0,* | 1,-) text=$(cat) ;;
  1,*) text=$1 ;;
  *) usage ;;
esac
[ -n "${GATEHOUSE_RETURN-}" ] || exit 0

# Texts of JSON have no plain line breaks: between tokens a space does as well.
text=$(printf '%s' "$text" | tr '\r\n\t' '   ')
text=${text#"${text%%[! ]*}"}
case $text in
  '{'*) ;;
  *) usage ;;
esac
if [ ${#text} -gt 65536 ]; then
  echo "gatehouse return: more than 65536 characters" >&2
  exit 65
fi
printf '{"%s": %s}\n' "$member" "$text" >>"$GATEHOUSE_RETURN"
