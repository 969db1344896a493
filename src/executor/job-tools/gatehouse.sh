#!/bin/sh
# gatehouse step NAME -- COMMAND [ARGUMENT]...
#
# Runs COMMAND as a step of the job with a span of its own below the enclosing step or playbook. Exit status, standard streams and
# signals (INT and QUIT only from a terminal) are the command's. Needs a POSIX shell and coreutils. The format of the lines that
# report a step is in src/executor/step-file.ts. Outside a job of Gatehouse it only runs the command. `gatehouse return` is
# in gatehouse-return.sh.

usage() {
  echo "usage: gatehouse step NAME -- COMMAND [ARGUMENT]..., or gatehouse return [--secret] [JSON | -] (in a job there is no other 'gatehouse')" >&2
  exit 64
}

if [ "${1-}" = return ]; then
  shift
  exec "${0%/*}/gatehouse-return" "$@"
fi

[ "${1-}" = step ] && [ -n "${2-}" ] && [ "${3-}" = -- ] && [ $# -ge 4 ] || usage
name=$2
shift 3
[ -n "${GATEHOUSE_STEPS-}" ] && [ -n "${GATEHOUSE_STEP+set}" ] || exec "$@"

# Nanoseconds since 1970; whole seconds where `date` has no finer ones.
now() {
  time=$(date +%s%N)
  case $time in
    *[!0-9]*) time=$(date +%s)000000000 ;;
  esac
}

# One write per line: steps that run at the same time do not mix. A step that cannot be reported is run anyway.
report() {
  printf '%s\n' "$1" 2>/dev/null >>"$GATEHOUSE_STEPS" || :
}

tab=$(printf '\t')
if [ ${#name} -gt 200 ] || [ "$name" != "${name#*[[:cntrl:]]}" ]; then
  name=$(printf '%s' "$name" | tr '[:cntrl:]' ' ' | cut -c 1-200)
fi
around=${GATEHOUSE_STEP%%/*}
parent=-
[ "$around" = "$GATEHOUSE_STEP" ] || parent=${GATEHOUSE_STEP#*/}
id=$(od -A n -N 8 -t x8 /dev/urandom)
id=${id##* }
sum=$(printf '%s/step %s/0' "$around" "$id" | sha256sum)
# Without an enclosing span tracing is off: an existing TRACEPARENT is left unchanged.
span=${around:+${sum%"${sum#????????????????}"}}

case $span,${TRACEPARENT-} in
  ?*,00-*-*-*)
    trace=${TRACEPARENT#00-}
    export TRACEPARENT="00-${trace%%-*}-$span-${TRACEPARENT##*-}"
    ;;
esac
export GATEHOUSE_STEP="$span/$id"

now
report "begin$tab$id$tab$parent${tab}step$tab$time$tab$name"

# In the background, so that HUP, TERM and USR sent to this process alone can be passed on immediately. A background process ignores
# interrupts and has no input: `env` undoes the first where it can, a copy of the descriptor the second.
exec 8<&0
if env --default-signal=INT,QUIT true 2>/dev/null; then
  env --default-signal=INT,QUIT sh -c 'exec "$@"' sh "$@" <&8 8<&- &
else
  "$@" <&8 8<&- &
fi
command=$!
exec 8<&-
caught=
for signal in HUP TERM USR1 USR2; do
  trap "kill -$signal $command 2>/dev/null; caught=$signal" "$signal"
done
# A terminal sends these to the whole group, so the command already has them. Sent to this process alone they do not reach the command:
# the two cases look the same, and passing them on would deliver those of a terminal twice.
trap 'caught=INT' INT
trap 'caught=QUIT' QUIT

# A signal ends `wait`, not the command. Shells print a message for some signals; the command has printed its own.
while :; do
  wait "$command" 2>/dev/null
  status=$?
  kill -0 "$command" 2>/dev/null || break
done

result=FAILURE
[ "$status" -ne 0 ] || result=SUCCESS
died=
if [ -n "$caught" ] && [ "$status" -gt 128 ] && [ "$(kill -l "$status" 2>/dev/null)" = "$caught" ]; then
  died=$caught
  result=ABORTED
fi
now
report "end$tab$id$tab$time$tab$result${tab}exit_code=$status"
if [ -n "$died" ]; then
  trap - "$died"
  kill -"$died" $$
fi
exit "$status"
