#!/bin/sh
# Installed by Gatehouse: notifies the gate immediately of pushes to this repository.
#
#   git config gatehouse.url      http://gate.example.org:9000/api/connection/local/payload
#   git config gatehouse.project  acme/app
#   git config gatehouse.token    <webhook_token of the connection>
#
# A push is never delayed and never fails because of this: everything happens in the background with a time limit of its
# own, and the gate's next poll finds lost notifications. Every notification of a project has the same body, so it can be
# signed once and for all (gatehouse.signature, a HMAC with the token); then bash sends it to a gate behind plain HTTP.
# Otherwise it is signed here and sent with node, or else with curl and a SHA-256 tool. Token and signature appear on no
# command line and in no environment.

# git writes the updated refs to stdin; reading all keeps git from writing into a closed pipe.
pushed=
while read -r _ new _; do
  pushed=${pushed:-$new}
done

url='' project='' token='' signature=''
while read -r key value; do
  case $key in
    gatehouse.url) url=$value ;;
    gatehouse.project) project=$value ;;
    gatehouse.token) token=$value ;;
    gatehouse.signature) signature=$value ;;
  esac
done <<END
$(git config --get-regexp '^gatehouse\.')
END
[ -n "$url" ] && [ -n "$project" ] && [ -n "$token" ] || exit 0
delivery="$(date +%s)-$$-$pushed"

# Fails where this bash cannot, or where the gate does not take it.
send_with_bash() {
  place=${url#http://}
  host=${place%%/*}
  case $place in */*) ;; *) return 1 ;; esac
  case $host in *@* | \[*) return 1 ;; *:*) port=${host##*:} ;; *) port=80 ;; esac
  body="{\"project\":\"$project\"}"
  {
    printf 'POST /%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n' "${place#*/}" "$host"
    printf 'Content-Type: application/json\r\nContent-Length: %s\r\n' "${#body}"
    printf 'X-Gatehouse-Delivery: %s\r\nX-Gatehouse-Signature: %s\r\n\r\n%s' "$delivery" "$signature" "$body"
  } | timeout 10 bash -c '
    request=$(</dev/stdin)
    exec 3<>"/dev/tcp/$0/$1" || exit 1
    printf %s "$request" >&3
    read -r _ status _ <&3
    [[ $status == 2* ]]
  ' "${host%:*}" "$port"
}

send_with_node() {
  printf '%s\n' "$url" "$project" "$token" "$delivery" | node -e '
    const [url, project, token, delivery] = require("node:fs").readFileSync(0, "utf8").split("\n");
    const { request } = require(url.startsWith("https:") ? "node:https" : "node:http");
    const body = JSON.stringify({ project });
    const signature = require("node:crypto").createHmac("sha256", token).update(body).digest("hex");
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      "X-Gatehouse-Delivery": delivery,
      "X-Gatehouse-Signature": "sha256=" + signature,
    };
    setTimeout(() => process.exit(1), 10000).unref();
    request(url, { method: "POST", headers }, answer => answer.resume()).on("error", () => process.exit(1)).end(body);
  '
}

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum
  elif command -v shasum >/dev/null; then shasum -a 256
  else openssl dgst -sha256 -r
  fi | cut -c1-64
}

# Writes bytes given as hex digits.
bytes() {
  hex=$1
  while [ -n "$hex" ]; do
    rest=${hex#??}
    # shellcheck disable=SC2059
    printf "\\$(printf '%03o' "$((0x${hex%"$rest"}))")"
    hex=$rest
  done
}

# HMAC by hand: the tools that offer it want the key on their command line.
padded_key() {
  hex=$key
  count=64
  while [ "$count" -gt 0 ]; do
    rest=${hex#??}
    byte=${hex%"$rest"}
    # shellcheck disable=SC2059
    printf "\\$(printf '%03o' "$((0x${byte:-0} ^ $1))")"
    hex=$rest
    count=$((count - 1))
  done
}

send_with_curl() {
  body="{\"project\":\"$project\"}"
  key=$(printf '%s' "$token" | od -An -v -tx1 | tr -d ' \n')
  [ "${#key}" -le 128 ] || key=$(printf '%s' "$token" | sha256)
  inner=$({ padded_key 54; printf '%s' "$body"; } | sha256)
  signature=$({ padded_key 92; bytes "$inner"; } | sha256)
  printf '%s' "$body" | curl --silent --show-error --max-time 10 --data-binary @- \
    --header 'Content-Type: application/json' \
    --header "X-Gatehouse-Delivery: $delivery" \
    --header "X-Gatehouse-Signature: sha256=$signature" \
    "$url"
}

# Without a single descriptor of the push, which would otherwise wait for us.
{
  trap '' HUP
  case $signature,$url in
    ?*,http://*) command -v bash >/dev/null && command -v timeout >/dev/null && send_with_bash && exit 0 ;;
  esac
  if command -v node >/dev/null; then send_with_node
  elif command -v curl >/dev/null; then send_with_curl
  fi
} </dev/null >/dev/null 2>&1 &

exit 0
