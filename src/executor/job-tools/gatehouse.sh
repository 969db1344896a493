#!/bin/sh
# gatehouse step NAME -- COMMAND [ARGUMENT]...
#
# Runs COMMAND as a step of the job with a span of its own below the one we are in: another step, or the playbook. Exit status,
# standard streams and signals (of INT and QUIT a terminal's alone) are the command's. Needs a POSIX shell and coreutils. How a step is told: src/executor/step-file.ts.
# Outside a job of Gatehouse it only runs the command.

usage() {
  echo "usage: gatehouse step NAME -- COMMAND [ARGUMENT]... (in a job there is no other 'gatehouse')" >&2
  exit 64
}

[ "${1-}" = step ] && [ -n "${2-}" ] && [ "${3-}" = -- ] && [ $# -ge 4 ] || usage
name=$2
shift 3
[ -n "${GATEHOUSE_STEPS-}" ] && [ -n "${GATEHOUSE_STEP+set}" ] || exec "$@"

# Nanoseconds since 1970; whole seconds where `date` knows no finer ones.
now() {
  time=$(date +%s%N)
  case $time in
    *[!0-9]*) time=$(date +%s)000000000 ;;
  esac
}

# One write per line: steps that run at the same time do not mix. A step that cannot be told is run all the same.
tell() {
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
# Without a span around us tracing is off: a TRACEPARENT is somebody else's then, and stays.
span=${around:+${sum%"${sum#????????????????}"}}

case $span,${TRACEPARENT-} in
  ?*,00-*-*-*)
    trace=${TRACEPARENT#00-}
    export TRACEPARENT="00-${trace%%-*}-$span-${TRACEPARENT##*-}"
    ;;
esac
export GATEHOUSE_STEP="$span/$id"

now
tell "begin$tab$id$tab$parent${tab}step$tab$time$tab$name"

# In the background, so that HUP, TERM and USR sent to this process alone can be passed on at once. A shell makes what it starts there deaf
# to interrupts and takes its input away: `env` undoes the one where it can, a copy of the descriptor the other.
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
# Of a terminal, for the whole group: the command has got them already. Sent to this process alone they do not reach it: nobody can
# tell the one from the other, and passed on it would get each of a terminal's twice.
trap 'caught=INT' INT
trap 'caught=QUIT' QUIT

# A signal ends `wait`, not the command. Shells say of some deaths that they happened: the command has said what it wanted.
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
tell "end$tab$id$tab$time$tab$result${tab}exit_code=$status"
if [ -n "$died" ]; then
  trap - "$died"
  kill -"$died" $$
fi
exit "$status"
