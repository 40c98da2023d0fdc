#!/usr/bin/env bash
# Makes in Azure, in one resource group with the network that it takes:
#   {{what}}
# Running it again makes what is missing, and stops where what is there is not what the plan says: of what is there it
# changes who may reach the machine by SSH, and that a SAN is reached, and nothing else. teardown.sh removes all of it.
#
# The line below each "costs:" makes something that is paid for until it is removed.
# It takes the role Contributor in the subscription{{rights}}.
# docs/generating.md of plimsoll has more of rights and of quotas.
# It needs az 2.83 or newer, logged in{{needs}}. It holds no secret, {{secrets}}.
# Written by plimsoll generate; what is checked against the catalog is in the plan, not here.
set -euo pipefail

{{here}}# What can be set from outside, as in: LOCATION=northeurope ./create.sh
SUBSCRIPTION="${SUBSCRIPTION:-}" # the one that az has chosen, unless told
RESOURCE_GROUP="${RESOURCE_GROUP:-{{name}}}"
LOCATION="${LOCATION:-{{region}}}"
{{variables}}WAIT_SECONDS="${WAIT_SECONDS:-1800}" # no longer for any one thing
POLL_SECONDS="${POLL_SECONDS:-10}"

# What tells this setup from somebody else's, whatever either is called; teardown.sh needs it as well.
[ -s "$here/setup-id" ] || od -An -N8 -tx1 /dev/urandom | tr -d ' \n' >"$here/setup-id"
TAG_VALUE="$(cat "$here/setup-id")"
readonly TAG_NAME=plimsoll-setup TAG_VALUE
readonly TAG="$TAG_NAME=$TAG_VALUE"

stop() {
  echo "error: $*" >&2
  exit 1
}

# Every command of az in the same subscription.
azure() {
  az "$@" ${SUBSCRIPTION:+--subscription "$SUBSCRIPTION"} --only-show-errors
}

# Whether something is there. az ends with 3 when it is not; whatever else is wrong ends this script.
exists() {
  local code=0 said
  said="$(azure "$@" --output none 2>&1)" || code=$?
  case "$code" in
    0) return 0 ;;
    3) return 1 ;;
    *) stop "az $1 $2: $said" ;;
  esac
}

# Waits until a command says "Succeeded", and fails when it says "Failed" or time is up.
wait_for() {
  local what="$1" state end=$((SECONDS + WAIT_SECONDS))
  shift
  while true; do
    state="$("$@" 2>/dev/null || true)"
    case "$state" in
      Succeeded) return 0 ;;
      Failed | Canceled)
        stop "$what is in the state $state: find out why, with az monitor activity-log list --status Failed --resource-group $RESOURCE_GROUP, remove it, or all with ./teardown.sh, and run this again"
        ;;
    esac
    [ "$SECONDS" -lt "$end" ] || stop "$what is not there after $WAIT_SECONDS s: it is \"$state\" $("$@" 2>&1 >/dev/null || true)"
    sleep "$POLL_SECONDS"
  done
}

# As Azure tells names apart: by neither case nor blanks, so that West Europe is westeurope.
plain() {
  tr '[:upper:]' '[:lower:]' <<<"$1" | tr -d ' '
}

# Stops when what is there is not what would be made now. It may hold something, so it is neither changed nor made anew.
same() {
  local what="$1" planned="$2" found="$3"
  [ "$(plain "$found")" = "$(plain "$planned")" ] || stop "$what is there as \"$found\", and the plan says \"$planned\": change the plan back, or remove it first: ./teardown.sh removes all"
}

command -v az >/dev/null || stop "az is not installed: see https://learn.microsoft.com/cli/azure/install-azure-cli"

# Writes down the group, so that teardown.sh knows of all, however it is called.
remember() {
  place="/subscriptions/$(azure account show --query id --output tsv)/resourceGroups/$RESOURCE_GROUP"
  grep --quiet --line-regexp --fixed-strings "$place" "$here/groups" 2>/dev/null || echo "$place" >>"$here/groups"
}

# A group that others made is left alone, because teardown.sh removes the whole group.
if exists group show --name "$RESOURCE_GROUP"; then
  owner="$(azure group show --name "$RESOURCE_GROUP" --query "tags.\"$TAG_NAME\" || ''" --output tsv)"
  [ "$owner" = "$TAG_VALUE" ] || stop "the group $RESOURCE_GROUP is there and not of this setup: its tag $TAG_NAME is \"$owner\", and setup-id in $here has \"$TAG_VALUE\": set RESOURCE_GROUP to another one, or copy the setup-id here that it was made with"
  remember
  same "the group $RESOURCE_GROUP" "$LOCATION" "$(azure group show --name "$RESOURCE_GROUP" --query location --output tsv)"
else
  remember
  azure group create --name "$RESOURCE_GROUP" --location "$LOCATION" --tags "$TAG" --output none
fi
